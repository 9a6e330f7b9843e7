"""T, D, R: models that fail: asked again, and what answers in their place."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

attempts = Tests("runs/test_attempts.py")
fallbacks = Tests("runs/test_fallbacks.py")
backoff = Tests("agent/test_backoff.py")
retries = Tests("agent/test_retries.py")

TABLE: Table = {
    "D-33": (
        rule(
            "the waits lie in [0, min(30 s, 1 s·2^n)]",
            retries["three_pauses_are_drawn_from_ranges_that_double_d_33"],
            backoff["the_range_of_the_pause_doubles_up_to_its_limit"],
        ),
        rule(
            "Retry-After is waited for, in seconds or as a date",
            retries["the_service_says_how_long_a_pause_is_at_least_t_57"],
            backoff["a_pause_is_at_least_what_the_service_asks_for_d_33"],
            Tests("workspace/egress/test_headers.py")["a_date_is_so_many_seconds_away"],
        ),
        otherwise(
            "however long it is",
            "More than 30 s is waited for by nobody: the failure is told, and a fallback asked.",
            backoff["a_service_that_wants_a_longer_pause_than_anybody_waits_is_not_asked_again"],
        ),
        rule(
            "429, 5xx and the network, and nothing else; never after the first delta",
            attempts["a_status_of_trouble_is_asked_again_and_no_other_d_33"],
            attempts["a_service_in_trouble_is_asked_as_often_as_the_policy_says"],
            retries["what_has_begun_or_would_fail_again_is_not_asked_again"],
        ),
    ),
    "R-12": (
        rule(
            "models are asked four times, applications and agents once",
            attempts["an_orchestrator_asks_a_model_four_times_and_an_application_once_r_12"],
            attempts["core_is_asked_for_a_model_four_times_and_for_an_application_once_r_12"],
            attempts["an_application_of_our_own_works_once_however_often_its_model_is_asked"],
        ),
        rule(
            "plain models alone have fallbacks, and before the first delta alone",
            Tests("workspace/local/test_fallback_rules.py")["only_chat_models_have_fallbacks"],
            fallbacks["nobody_else_is_asked_after_the_first_word_r_12"],
            fallbacks["what_is_wrong_with_the_request_is_asked_of_nobody_else_r_12"],
        ),
        rule(
            "a fallback is asked for no longer answer than it gives, and for nothing longer than it reads",
            fallbacks["a_fallback_is_asked_for_no_longer_answer_than_it_gives"],
            fallbacks["nor_does_a_fallback_ask_for_a_longer_answer_by_its_own_parameters"],
            fallbacks["a_conversation_is_not_sent_to_a_fallback_that_does_not_read_so_much"],
            fallbacks["a_run_goes_back_when_its_conversation_outgrows_the_fallback"],
        ),
        rule(
            "the transport repeats nothing that a service may have read",
            attempts["a_connection_that_was_closed_in_a_pause_costs_no_attempt"],
        ),
    ),
}
