"""D, R: what models read and cost: the context window, and for how long results are sent."""

from __future__ import annotations

from tests.contract.rules import Scripts, Table, Tests, otherwise, rule

answers = Scripts("scripts/answers.test.js")
browser = Tests("browser/test_context.py")
chat = Tests("chat/test_context.py")
cut = Tests("agent/test_context_cut.py")
durations = Tests("agent/test_durations.py")
estimate = Tests("agent/test_estimate.py")
expired = Tests("chat/test_expired_results.py")
fitter = Tests("agent/test_context_fitter.py")
runs = Tests("runs/test_context.py")
services = Tests("workspace/services/test_failures.py")
wire = Tests("gateway/test_wire.py")

CONTEXT: Table = {
    "D-06": (
        rule(
            "for ever, never, or for the last turns; a kept result keeps its call",
            durations["results_are_sent_for_as_many_turns_as_their_tool_says"],
            durations["of_parallel_calls_those_stay_whose_results_stay"],
            durations["calls_that_still_wait_for_their_results_stay"],
        ),
        rule(
            "expired ones are shown faded",
            expired["d_06_the_page_is_told_which_results_the_model_reads_no_more"],
            answers["a result that the model no longer reads is marked"],
        ),
        otherwise(
            "0 is never sent",
            "Until the turn is over a note is sent in place of the result: a model that read "
            "nothing after its call would call again.",
            durations["what_is_for_the_person_alone_is_a_note_until_the_turn_is_over"],
        ),
        otherwise(
            "expired messages are shown faded",
            "The page shows every turn as it was; what is not sent any more is known to the run "
            "alone, which does not rewrite what people see.",
            fitter["results_whose_time_is_over_are_not_sent_and_stay_in_the_conversation"],
        ),
    ),
    "D-30": (
        rule(
            "four characters a token, one for Han, Hiragana, Katakana and Hangul, 100 a picture",
            estimate["letters_count_a_quarter_and_the_rest_one_each"],
            estimate["a_picture_counts_the_same_wherever_it_stands"],
        ),
        rule(
            "what the service counted corrects the estimate, within bounds",
            estimate["a_correction_is_bounded"],
            fitter["what_the_service_counts_corrects_the_estimates"],
            chat["what_the_model_counted_corrects_the_next_conversation"],
        ),
    ),
    "D-31": (
        rule(
            "the five parts, total and limit, for the owner alone",
            chat["the_page_is_told_how_full_the_window_is_and_what_stands_for_the_beginning"],
            estimate["a_request_is_broken_down_by_what_it_is_for"],
            browser["the_gauge_tells_how_full_the_window_is_and_opens_to_the_parts"],
        ),
        rule(
            "warning above 0.80, danger above 0.95",
            chat["the_page_is_warned_above_two_shares"],
            browser["a_window_that_is_nearly_full_is_told_in_words_and_colour"],
        ),
    ),
    "D-32": (
        rule(
            "the oldest go first, never the system message, the last question or half of a pair",
            cut["results_go_before_turns_and_the_oldest_first"],
            cut["the_newest_turn_stays_however_long_it_is"],
            cut["results_of_old_turns_become_notes_and_keep_their_calls"],
            fitter["in_a_long_chain_of_calls_old_results_become_notes"],
            fitter["a_question_that_cannot_fit_is_refused_before_the_network"],
        ),
        rule(
            "a cut moves in steps, so that services can cache what stands before it",
            cut["a_cut_moves_in_steps_while_the_conversation_grows"],
            runs["the_next_request_of_a_program_is_cut_at_the_same_place"],
        ),
        rule(
            "summaries are kept, read again, and survive the process",
            chat["the_summary_is_written_after_the_answer_that_makes_it_necessary"],
            chat["a_summary_is_made_before_the_call_where_none_is_there_and_then_reused"],
            chat["a_process_that_ends_in_the_middle_leaves_its_summary_to_the_next"],
        ),
        rule(
            "DIAL is told the discarded messages",
            runs["a_limit_of_the_client_tells_it_what_was_discarded"],
            wire["a_client_that_set_a_limit_is_told_which_messages_were_discarded"],
        ),
    ),
    "R-22": (
        rule(
            "durations filter what is sent; history and state stay whole",
            fitter["results_whose_time_is_over_are_not_sent_and_stay_in_the_conversation"],
        ),
    ),
    "R-12": (
        rule(
            "a request that was too long is sent shorter, once",
            services["words_for_a_conversation_that_is_too_long_are_understood"],
            fitter["a_conversation_that_was_too_long_for_the_service_is_sent_shorter_once"],
            fitter["a_service_that_finds_the_shorter_one_too_long_as_well_is_believed"],
        ),
    ),
}

TABLE: Table = CONTEXT
