"""T: the services that models are asked at, what they cost, and what they keep of a request."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

attempts = Tests("runs/test_attempts.py")
events = Tests("workspace/anthropic/test_events.py")
responses = Tests("workspace/responses/test_events.py")
openai = Tests("workspace/openai/test_model.py")
requests = Tests("workspace/anthropic/test_requests.py")
retries = Tests("agent/test_retries.py")
sdk = Tests("workspace/anthropic/test_sdk.py")
oracle = Tests("workspace/responses/test_oracle.py")
wires = Tests("workspace/services/test_wires.py")

TABLE: Table = {
    "T-50": (
        rule(
            "the same holds for every API",
            wires["a_service_is_asked_with_its_key_at_its_address"],
            wires["an_answer_arrives_in_the_pieces_that_it_was_sent_in"],
            wires["an_answer_in_one_piece_is_read_at_once"],
        ),
        otherwise(
            "without a temperature 0.7 is asked for",
            "Newer models refuse any; the service's own default holds. An answer that has no limit "
            "of tokens gets the 4,096, where the API requires one.",
            requests["parameters_have_the_names_of_the_service"],
        ),
    ),
    "T-52": (
        rule(
            "Claude is asked as its own SDK asks",
            sdk["what_is_sent_is_what_the_sdk_sends"],
            sdk["the_sdk_reads_in_the_answer_what_we_read"],
        ),
        rule(
            "so is OpenAI's Responses API, which tells its usage unasked",
            oracle["a_conversation_is_sent_as_the_sdk_sends_it"],
            oracle["an_answer_is_read_as_the_sdk_reads_it"],
        ),
        rule(
            "OpenAI is asked for its usage",
            openai["the_request_is_what_the_service_expects"],
            openai["the_answer_arrives_with_its_usage"],
        ),
    ),
    "T-53": (
        rule(
            "both wires tell what the cache gave and took",
            events["thoughts_texts_calls_and_counts_are_read"],
            openai["thoughts_refusals_and_details_of_the_usage_are_read_from_a_stream"],
            oracle["an_answer_is_read_as_the_sdk_reads_it"],
        ),
        rule(
            "what is not told is no 0",
            events["counts_that_the_service_does_not_tell_are_not_made_up"],
            responses["absent_counts_are_none_and_not_zero"],
            Tests("insights/test_rows.py")["a_run_of_three_turns_leaves_three_rows_t_60"],
        ),
    ),
    "T-54": (
        rule(
            "three marks, two for one message",
            requests["marks_stand_at_exactly_three_places_and_at_two_for_one_message"],
        ),
        rule(
            "the same places through DIAL",
            Tests("workspace/openai/test_requests.py")[
                "dials_model_is_told_up_to_where_its_cache_keeps_the_request"
            ],
            Tests("runs/test_run.py")["a_model_with_a_cache_is_asked_with_marks"],
        ),
        rule(
            "the beginning stays the same",
            requests["requests_of_one_conversation_begin_with_the_same_bytes"],
            Tests("runs/test_prefix.py")[
                "neither_a_round_nor_a_turn_changes_the_beginning_though_the_model_is_told_the_time"
            ],
        ),
    ),
    "T-57": (
        rule(
            "a question is asked again after pauses, and never after the first word",
            retries["a_model_that_cannot_begin_is_asked_again_after_a_pause"],
            retries["what_has_begun_or_would_fail_again_is_not_asked_again"],
            attempts["a_service_in_trouble_is_asked_as_often_as_the_policy_says"],
            events[
                "an_error_before_the_first_block_leaves_nothing_behind_so_it_may_be_asked_again"
            ],
            Tests("workspace/responses/test_model.py")[
                "a_service_in_trouble_is_asked_again_before_its_first_word"
            ],
            Tests("workspace/responses/test_model.py")[
                "it_is_not_asked_again_after_its_first_word"
            ],
        ),
        otherwise(
            "the waits begin with 500 ms, and one more try follows 2 s after the last",
            "TidGi's numbers (R-12), and in the place of another try a deployment that can answer.",
            retries["three_pauses_are_drawn_from_ranges_that_double_d_33"],
            Tests("runs/test_fallbacks.py")[
                "another_deployment_answers_and_the_person_is_told_t_57"
            ],
        ),
    ),
}
