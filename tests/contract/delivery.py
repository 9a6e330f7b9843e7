"""§2.6 how errors reach the client."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

failures = Tests("runs/test_failures.py")
completions = Tests("gateway/test_completions.py")

TABLE: Table = {
    "2.6": (
        rule(
            "each condition has its text; upstream words first, then codes, then statuses",
            failures["what_a_failure_becomes"],
            failures["what_a_service_failed_with_is_told_in_words_for_people"],
        ),
        rule(
            "a reference of 8 digits, which stands in the log as well",
            failures["what_a_failure_becomes"],
            failures["what_was_expected_is_logged_in_one_line"],
            failures["what_nobody_expected_is_logged_with_its_traceback"],
        ),
        rule(
            "code and type are the upstream's, else those of the status",
            failures["codes_and_types_of_the_upstream_are_passed_on"],
            failures["codes_and_types_that_the_upstream_did_not_give_come_from_the_status"],
        ),
        rule(
            "six statuses are passed on, all others are 500",
            failures["what_a_failure_becomes"],
        ),
        rule(
            "before the first words a status, after them an event of the stream",
            completions["an_error_before_the_first_words_has_a_status"],
            completions[
                "an_error_after_the_first_words_is_one_more_event_and_the_stream_ends_properly"
            ],
            completions["an_error_nobody_expected_tells_nothing_of_itself"],
        ),
        rule(
            "what the request itself is to blame for is told plainly",
            failures["what_the_request_is_to_blame_for_is_told_plainly"],
        ),
        otherwise(
            "(ours) an answer that never ends is cut and says so, with the reason length",
            "One answer may not fill memory and database; ANSWER_MAX_CHARS is its limit.",
            completions["an_answer_that_never_ends_is_cut_and_says_so"],
            Tests("chat/test_consumers.py")["an_answer_that_never_ends_is_cut_and_stored_so"],
            Tests("agent/test_replies.py")[
                "arguments_and_thinking_take_room_as_well_and_no_call_is_made"
            ],
        ),
    ),
}
