"""§16 what is put into a conversation as if it had been asked for: the mechanism, and hooks."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

injection = Tests("agent/test_injection.py")
hooks = Tests("capabilities/hooks/test_capability.py")
templates = Tests("capabilities/hooks/test_templates.py")
written = Tests("manifest/test_hooks.py")

TABLE: Table = {
    "16.1": (
        rule(
            "always: at the end, with an id of its own, adding up",
            injection["always_adds_one_at_the_end_with_an_id_that_nothing_else_has"],
        ),
        rule(
            "append_if_changed: first after the first question, else at the end",
            injection["the_first_time_it_stands_right_after_the_first_question"],
            injection["without_a_question_it_stands_at_the_end"],
        ),
        rule(
            "unchanged adds nothing; changed adds a pair and keeps the old one",
            injection["what_was_said_already_is_not_said_again"],
            injection["something_new_is_appended_and_the_old_stays"],
            injection["what_is_said_again_after_something_else_has_an_id_of_its_own"],
        ),
        rule(
            "refresh_if_changed replaces in place; tool and arguments tell pairs apart",
            injection["a_refreshed_pair_takes_the_place_of_the_old_one"],
            injection["other_arguments_are_another_pair"],
            injection["what_tells_pairs_apart_may_be_something_else_than_the_arguments"],
        ),
        rule(
            "ids are hashes of arguments and content, the same in every request",
            injection["ids_are_the_same_in_every_request_and_no_longer_than_providers_take"],
        ),
        otherwise(
            "an id names the whole tool and both hashes",
            "It is cut to 40 characters, the name and the hashes in it as well: OpenAI refuses longer "
            "ids of calls.",
            injection["ids_are_the_same_in_every_request_and_no_longer_than_providers_take"],
        ),
        rule(
            "nothing to say leaves the very same list",
            injection["nothing_to_say_leaves_the_very_same_messages"],
        ),
    ),
    "16.2": (
        rule(
            "at the start: the result stands as a pair, in the order of the manifest",
            hooks["the_model_finds_what_the_hook_asked_for_as_if_it_had_asked_itself"],
            hooks["hooks_run_in_the_order_of_the_manifest_and_see_each_other"],
        ),
        rule(
            "frequencies, and a time for which a result is fresh",
            hooks["what_has_not_changed_is_not_said_again_and_what_has_changed_is"],
            hooks["what_is_always_said_is_said_at_the_end_each_time"],
            hooks["what_is_fresh_is_not_asked_for_again"],
        ),
        rule(
            "after a complete answer alone; its result is discarded",
            hooks["after_the_answer_a_hook_sees_it_and_says_nothing"],
            hooks["the_answer_and_its_state_are_there_before_the_hooks_that_follow_it"],
            hooks["a_turn_that_ends_with_calls_of_the_client_or_a_failure_is_no_completion"],
        ),
        rule(
            "failures, time-outs and templates skip the hook; a cancellation is passed on",
            hooks["a_hook_that_fails_is_skipped_and_told_in_the_log_alone"],
            hooks["a_hook_that_takes_too_long_is_given_up"],
            hooks["a_template_that_cannot_be_filled_in_skips_the_hook"],
            hooks["who_cancels_the_run_cancels_the_hook"],
        ),
        rule("an unknown tool is an issue", hooks["an_unknown_tool_is_an_issue"]),
        rule(
            "stages of hooks are shown at debug",
            hooks["hooks_are_shown_to_those_who_look_for_mistakes"],
        ),
        rule(
            "templates: text, $eval, operators, escapes; the conversation as plain values",
            templates["templates_are_filled_in_as_json_e_says"],
            templates["a_template_sees_the_conversation_as_plain_values"],
            templates["there_may_be_no_last_message"],
            templates["what_somebody_typed_is_never_read_as_a_template"],
        ),
        rule(
            "an error repeats nothing of the conversation",
            templates["what_cannot_be_evaluated_is_refused_without_a_word_of_the_conversation"],
        ),
        rule(
            "templates are checked when the manifest is saved",
            written["a_template_that_cannot_be_filled_in"],
            written["a_template_is_not_refreshed_by_the_clock"],
        ),
        rule(
            "one that can never be filled in costs its hook and an issue, where it is stored",
            hooks["a_template_that_can_never_be_filled_in_is_an_issue_and_the_other_hooks_run"],
        ),
    ),
}
