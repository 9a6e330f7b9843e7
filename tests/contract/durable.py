"""D, R: runs that wait and ask: approvals, questions, and what was decided about them."""

from __future__ import annotations

from tests.contract.rules import Scripts, Table, Tests, otherwise, rule

approval = Tests("capabilities/wrappers/test_approval.py")
approval_rules = Tests("capabilities/wrappers/test_approval_rules.py")
asking = Tests("gateway/test_asking_ledger.py")
client_tools = Tests("capabilities/client_tools/test_capability.py")
consumers = Tests("chat/test_consumers.py")
interactions = Tests("chat/test_interactions.py")
loop = Tests("agent/test_loop.py")
pending = Tests("agent/test_pending.py")
processes = Tests("chat/test_processes.py")
questions = Tests("capabilities/questions/test_capability.py")
results = Tests("capabilities/wrappers/test_results.py")
session = Scripts("scripts/session.test.js")
validation = Tests("manifest/test_validation.py")
waiting = Tests("live/test_waiting.py")
R_01 = "r_01_the_limit_of_other_systems_is_stored_as_ours_and_is_not_zero"

LOOP: Table = {
    "D-05": (
        otherwise(
            "a tool says whether the model or a person has the next turn",
            "A result leads to the next call of the model unless it ends the turn, and a call that "
            "asks a person parks the run: its result is still to come.",
            loop["the_result_of_a_tool_is_shown_to_the_model_before_it_answers"],
            pending["a_call_that_asks_somebody_lets_the_others_end_and_then_the_run_waits"],
        ),
    ),
    "D-07": (
        rule(
            "the question is stored at once, the answer once",
            consumers["a_question_is_answered_and_stored"],
        ),
        otherwise(
            "an incomplete message is a row that is written again and again",
            "What was said stands in the journal until the answer is stored; one whose process is "
            "gone for good is stored as failed with what there was.",
            Tests("live/test_journal.py")["an_ending_that_is_written_again_is_stored_once"],
            processes["the_answer_of_a_process_that_died_is_marked_as_failed_when_it_is_opened"],
        ),
    ),
    "D-09": (
        otherwise(
            "submitted, working, input-required, completed, canceled, failed, unknown",
            "They are called queued, running, waiting, done, stopped, failed; rows always know.",
            Tests("live/test_queue.py")["any_process_takes_what_it_has_room_for"],
            waiting["a_run_that_waits_is_rows_and_nothing_else"],
            waiting["any_process_goes_on_when_the_answer_is_there"],
            interactions["a_run_that_waits_is_stopped_and_viewers_are_told_at_once"],
            Tests("live/test_journal.py")["who_has_lost_the_lease_writes_nothing"],
        ),
    ),
    "D-11": (
        otherwise(
            "a result of more than 32,000 characters is cut",
            "The limit is a setting, 400,000: large results go into files where there are tools for "
            "them. The notice says how much is missing.",
            results["the_models_copy_is_cut_with_a_notice"],
        ),
        rule(
            "a page that was fetched is cut to what a model is shown",
            Tests("capabilities/web/test_capability.py")["a_result_is_always_below_the_limit"],
        ),
    ),
    "D-12": (
        otherwise(
            "a turn is rolled back, deleted or tried again",
            "It is tried again; what tools have done cannot be undone, and conversations are "
            "deleted as a whole.",
            session["a failed answer shows its reference and is retried in its place"],
        ),
    ),
}

APPROVAL: Table = {
    "D-20": (
        rule(
            "calls made at once keep all results, and a failure ends no other call",
            loop["a_tool_that_fails_leaves_its_siblings_alone"],
            loop["calls_run_at_the_same_time_and_their_results_keep_their_order"],
        ),
        rule("each tool has its own time", results["a_tool_that_never_ends_is_stopped"]),
        rule(
            "the time of all together keeps what is there",
            loop["a_batch_that_takes_too_long_keeps_the_results_that_are_there"],
        ),
    ),
    "D-21": (
        rule(
            "deny, then allow, then the mode",
            approval_rules["d_21_deny_comes_before_allow_and_allow_before_the_mode"],
        ),
        rule(
            "patterns are searched in JSON, in any case, in bounded time",
            approval_rules["patterns_are_searched_in_compact_json_whatever_the_case"],
            approval_rules[
                "a_deny_pattern_that_takes_too_long_denies_and_an_allow_pattern_allows_nothing"
            ],
        ),
        otherwise(
            "invalid patterns are skipped with a warning",
            "They are refused when a manifest is saved; a stored one that denies, denies.",
            approval_rules["a_rule_that_cannot_be_evaluated_is_refused_when_it_is_saved"],
            approval_rules["a_stored_deny_pattern_that_is_broken_denies"],
        ),
    ),
    "D-22": (
        rule(
            "a call waits for allow or deny, over a reload, in every tab",
            approval["a_call_waits_with_a_card_until_somebody_has_approved_it"],
            interactions["a_changed_call_is_approved_in_another_process_and_every_tab_is_told"],
            Tests("browser/test_interactions.py")[
                "a_call_is_approved_with_a_changed_argument_after_a_reload"
            ],
        ),
        rule(
            "nobody answers in time: denied, and the model is told",
            interactions["the_clock_answers_and_viewers_are_told_at_once"],
            approval["d_22_a_call_that_is_not_approved_is_not_made_and_the_model_is_told"],
        ),
        rule(
            "each call of a batch is judged by its own arguments",
            approval["each_call_of_a_batch_is_judged_by_its_own_arguments"],
        ),
    ),
    "D-23": (
        otherwise(
            "a dialog in the browser keeps rules, time-outs and retries",
            "The manifest has them, and people may be stricter and spare questions, on the server.",
            approval["d_23_people_may_be_stricter_and_spare_questions_only_where_it_is_offered"],
            interactions["people_choose_before_which_tools_they_are_asked"],
            interactions["people_see_and_withdraw_what_is_theirs"],
            Tests("capabilities/wrappers/test_retries.py")["attempts_and_pauses_have_limits"],
        ),
    ),
    "D-43": (
        rule(
            "a question has options, several options or words, and its answer is the result",
            questions["a_run_waits_for_the_answer_and_goes_on_with_it"],
            questions["several_options_can_be_chosen_and_no_other_answer_be_given"],
            questions["a_question_in_own_words_has_no_options"],
            questions["the_application_says_how_long_there_is_time"],
        ),
        rule(
            "a message of a program answers it as what is written on the page does",
            Tests("chat/test_tasks.py")[
                "a_message_answers_the_question_for_which_its_conversation_waits"
            ],
            Scripts("scripts/interactions.test.js")[
                "the composer answers a question that takes words"
            ],
        ),
        rule("nobody else answers", interactions["nobody_else_reaches_a_card"]),
        rule(
            "over DIAL it is a form, else text",
            asking["d_43_a_question_is_answered_with_a_number_or_in_words"],
            asking["a_question_is_a_form_in_dial"],
        ),
    ),
}

DECISIONS: Table = {
    "R-01": (
        rule(
            "the limit counts calls of the model; 15, -1 is none, 0 is refused",
            loop["a_limit_of_n_is_n_questions_to_the_model"],
            loop["minus_one_is_no_limit"],
            validation["defaults_are_filled_in"],
            validation[
                "what_costs_no_more_than_a_part_is_refused_when_it_is_checked_and_not_when_it_runs"
            ],
        ),
        rule(
            "`MaxTurns` and `maxIterations` are taken in an import",
            Tests("manifest/test_aliases.py")["r_01_other_names_of_the_limit_become_ours"],
            Tests("console/api/test_applications.py")[R_01],
            Tests("console/admin/test_applications.py")[R_01],
            Tests("catalog/test_row_import.py")["r_01_a_file_may_have_the_limit_of_another_system"],
        ),
    ),
    "R-02": (rule("500 rounds are a loop", loop["minus_one_is_no_limit"]),),
    "R-03": (
        rule(
            "all settled, in order, then the strategy decides",
            loop["a_tool_that_fails_leaves_its_siblings_alone"],
            loop["a_tool_that_stops_the_run_lets_the_others_finish_first"],
            Tests("capabilities/wrappers/test_fallbacks.py")[
                "the_first_strategy_that_applies_tells_the_model"
            ],
        ),
    ),
    "R-11": (
        rule(
            "on the page the run waits; over DIAL the next message answers",
            asking["the_same_manifest_asks_on_the_page_and_through_dial"],
            pending[
                "r_11_a_run_that_nobody_keeps_leaves_calls_to_the_next_which_asks_about_one_at_a_time"
            ],
            Tests("gateway/test_dial.py")[
                "r_11_a_call_is_approved_through_core_by_a_form_but_not_by_another_application"
            ],
        ),
        rule(
            "tools of the page are not offered over DIAL",
            client_tools["only_a_run_of_a_whole_page_has_the_tools"],
        ),
    ),
    "R-13": (
        rule(
            "the tool's time, else the application's, else the installation's, which always is",
            Tests("workspace/loading/test_loader.py")[
                "an_application_changes_the_rules_of_the_installation"
            ],
            Tests("capabilities/interpreter/test_capability.py")[
                "the_time_of_the_application_stops_a_call"
            ],
        ),
    ),
}

TABLE: Table = {**LOOP, **APPROVAL, **DECISIONS}
