"""§2.5 what could not be opened, §2.6 how errors reach the client."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

failures = Tests("runs/test_failures.py")
completions = Tests("gateway/test_completions.py")

issues = Tests("runs/test_issues.py")
resolved = Tests("catalog/test_resolve.py")
documents = Tests("catalog/test_documents.py")

TABLE: Table = {
    "2.5": (
        rule(
            "one stage with a section for each feature, failed if an issue is hard",
            issues["issues_are_shown_under_their_sections"],
            issues["one_hard_issue_makes_the_stage_failed"],
            issues["without_issues_nothing_is_shown"],
        ),
        rule(
            "a toolset is named; one of DIAL without a name by the end of its id",
            issues["an_issue_of_a_toolset_names_it"],
            issues["a_run_names_the_toolsets_whose_tools_it_goes_without"],
        ),
        rule(
            "preview fields that are ignored are warned of, one by one (§19)",
            resolved["what_is_written_for_preview_features_is_warned_of_while_they_are_off"],
        ),
        otherwise(
            "(ours) where Core keeps the manifest they are an issue as well",
            "Nobody is told while such a manifest is edited.",
            documents["what_is_written_for_preview_features_in_vain_is_an_issue"],
        ),
    ),
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
            Tests("gateway/test_dial.py")["core_is_told_of_a_models_limit_as_of_any_failure"],
        ),
        otherwise(
            "(ours) everybody but Core is told of a limit of the model's service with 429",
            "Clients of OpenAI's dialect wait as long as its Retry-After says, and know no other way.",
            completions["a_limit_of_the_models_service_is_told_with_its_time"],
            completions["a_limit_after_the_first_words_is_told_by_its_code"],
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
