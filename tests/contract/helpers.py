"""D, R: helpers, the to-do list, the last word, hooks that watch, and rounds without end."""

from __future__ import annotations

from tests.contract.rules import Scripts, Table, Tests, otherwise, rule

agents = Tests("catalog/content/test_agents.py")
ended = Tests("agent/test_ended_turns.py")
hooks = Tests("capabilities/hooks/test_observers.py")
hook_calls = Tests("capabilities/hooks/test_capability.py")
loop = Tests("agent/test_loop.py")
names = Tests("manifest/test_names.py")
page = Tests("browser/test_helpers.py")
rows = Tests("chat/test_helpers.py")
run = Tests("runs/test_run.py")
spawn = Tests("capabilities/subagents/test_spawn.py")
summary = Tests("capabilities/summary/test_capability.py")
todo = Tests("capabilities/todo/test_capability.py")
todo_lists = Tests("agent/test_todo_list.py")

TABLE: Table = {
    "D-01": (
        otherwise(
            "a message goes to the handler that its agent names",
            "There is one loop; what differs between agents is data: a manifest, or a predefined agent, "
            "and the settings of the application stand above those of the kind.",
            spawn["the_model_is_told_of_the_kinds_and_the_helper_of_its_task_and_context"],
        ),
        rule(
            "an agent that there is not is told while it is edited, and to the model",
            agents["an_application_that_offers_an_agent_that_there_is_not_is_told"],
            spawn["a_task_that_says_nothing_and_a_kind_that_there_is_not_are_told"],
        ),
    ),
    "D-02": (
        rule(
            "hooks are told of messages, results of tools, the answer and its status, in this order",
            hooks["each_hook_is_told_in_the_order_of_what_happens"],
            hooks["they_are_told_how_a_run_ends_that_is_not_answered"],
        ),
        rule(
            "a hook that fails is logged and does not stop the rest",
            hooks["one_that_fails_is_logged_and_the_next_are_told_all_the_same"],
        ),
        rule(
            "what a hook says reaches the prompt only where that is declared, and holds nothing up",
            hooks["the_model_sees_nothing_of_them"],
            hooks["the_answer_does_not_wait_for_a_hook_that_is_slow"],
            hook_calls["the_model_finds_what_the_hook_asked_for_as_if_it_had_asked_itself"],
        ),
    ),
    "D-03": (
        rule(
            "two conversations at once with one hook: no leak",
            hooks["two_conversations_at_once_tell_their_own_and_nothing_of_each_other"],
        ),
    ),
    "D-04": (
        rule(
            "500 rounds have constant stack and memory",
            loop["five_hundred_rounds_take_no_deeper_stack_and_no_more_than_their_messages"],
        ),
        rule("the rounds are limited", loop["a_limit_of_n_is_n_questions_to_the_model"]),
    ),
    "D-05": (
        rule(
            "a result may end the turn",
            ended["a_result_that_ends_the_turn_is_the_last_and_its_text_the_answer"],
        ),
    ),
    "D-24": (
        rule(
            "several helpers work at once, each a run of its own that is named after its task",
            spawn[
                "helpers_work_at_the_same_time_and_a_failure_of_one_keeps_the_results_of_the_others"
            ],
            spawn["a_helper_is_named_by_the_first_fifty_characters_of_its_task"],
            rows["a_helper_is_a_run_of_its_own_that_belongs_to_the_answer"],
        ),
        rule(
            "a helper is opened, read and stopped by itself",
            page[
                "one_of_two_helpers_is_read_and_stopped_while_the_other_answers_and_the_list_is_ticked"
            ],
            spawn["a_helper_that_a_person_stops_ends_alone_and_the_model_is_told"],
            rows["a_helper_is_stopped_by_itself_and_the_answer_goes_on"],
            rows["another_process_stops_a_helper_as_well"],
            rows["nobody_else_stops_a_helper_and_one_that_there_is_not_is_told"],
        ),
        rule(
            "a helper ends with the run that began it",
            spawn["a_helper_is_cancelled_with_the_run_that_began_it"],
            rows["a_helper_ends_with_the_answer_that_is_stopped"],
        ),
        rule(
            "its tokens and rounds count for the answer",
            spawn["tokens_and_rounds_of_helpers_count_for_the_answer"],
            spawn[
                "a_helper_cannot_ask_more_often_than_the_answer_has_left_and_leaves_one_call_to_it"
            ],
            spawn["the_rounds_of_helpers_end_an_answer_that_has_none_left"],
        ),
        rule(
            "it cannot ask and begins no others unless its kind may, and those never do",
            spawn["a_helper_has_no_question_no_list_and_no_helpers"],
            spawn["a_helper_begins_others_if_its_kind_may_and_those_never_do"],
        ),
        rule(
            "a finished helper is not begun again by another process",
            spawn["a_finished_helper_is_not_begun_again_when_another_process_goes_on"],
        ),
    ),
    "D-25": (
        rule(
            "a stored definition stands above the one that comes with us",
            agents["an_agent_of_a_later_layer_replaces_the_one_below"],
            agents["an_agent_brings_predefined_toolsets_and_one_that_there_is_not_is_told"],
            spawn["a_kind_names_the_toolsets_that_it_has_and_brings_others"],
        ),
    ),
    "D-40": (
        rule(
            "the text is the answer, and no model is asked again",
            summary["the_text_is_the_answer_and_no_model_is_asked_again"],
        ),
        rule(
            "its result is not sent again; other calls of the round end",
            summary["other_calls_of_the_round_are_made_and_kept_and_its_own_is_not_sent_again"],
            ended["the_other_calls_of_the_round_are_made_to_their_end"],
        ),
    ),
    "D-49": (
        rule(
            "the list survives the run, and the next prompt holds it",
            todo["the_list_survives_the_answer_and_the_next_prompt_holds_it"],
            todo["the_list_survives_an_answer_that_fails"],
            todo["a_run_that_another_process_goes_on_with_has_the_list"],
        ),
        rule(
            "items are counted with those below others",
            todo_lists["items_are_counted_with_those_below_others"],
            todo["a_list_is_written_counted_and_shown"],
        ),
        rule(
            "it is ticked live, stands in the download, and belongs to the conversation",
            rows["the_list_is_told_live_kept_with_the_answer_and_stands_in_the_download"],
            todo["lists_of_two_conversations_know_nothing_of_each_other"],
            Scripts("scripts/conversation.test.js")["the to-do list is ticked as it goes"],
        ),
    ),
    "D-50": (
        otherwise(
            "there are tools for git, for an agent's own prompt, and injectors of wikis",
            "Git comes with an MCP server; prompts are changed by operators, whose layers and places "
            "stand for the injectors.",
            todo["a_workspace_and_other_arguments_that_it_does_not_know_are_ignored"],
        ),
    ),
    "R-14": (
        rule(
            "what changes with each step stands behind the cached part",
            todo["every_prompt_has_the_list_as_it_stands_behind_everything_else"],
        ),
    ),
    "R-19": (
        rule(
            "helpers of own definitions, and deployments as tools",
            spawn["the_model_is_told_of_the_kinds_and_the_helper_of_its_task_and_context"],
            spawn["a_kind_names_the_toolsets_that_it_has_and_brings_others"],
        ),
    ),
    "R-22": (
        rule(
            "the last word is left out of what is sent again, and nothing else",
            summary["other_calls_of_the_round_are_made_and_kept_and_its_own_is_not_sent_again"],
        ),
    ),
    "R-23": (
        rule(
            "a tool has one name, derived for services; two of one name are told",
            run["of_two_tools_of_a_name_the_first_is_used_and_the_other_reported"],
            names["a_name_becomes_one_that_models_accept"],
        ),
    ),
}
