"""G: a general-purpose agent: its application, its loop, its tools."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

agent = Tests("runs/test_general_purpose_agent.py")
commands = Tests("catalog/test_commands.py")
completions = Tests("gateway/test_completions.py")
deployment = Tests("capabilities/deployment/test_calls.py")
built_in = Tests("catalog/content/test_built_in.py")
history = Tests("runs/test_history.py")
loop = Tests("agent/test_loop.py")
replies = Tests("agent/test_replies.py")
run = Tests("runs/test_run.py")
stages = Tests("capabilities/wrappers/test_stages.py")

TABLE: Table = {
    "G-01": (
        rule("an answer is streamed", completions["an_answer_is_streamed_as_it_comes"]),
        rule("or given whole", completions["an_answer_is_given_whole"]),
        rule(
            "the agent answers as it is shipped", agent["nothing_is_missing_as_it_is_shipped_g_01"]
        ),
    ),
    "G-02": (
        rule(
            "Core's entry is printed, with the files that the application takes",
            commands["the_registration_of_the_built_in_agent_names_the_files_that_it_takes_g_02"],
            commands["the_registration_has_the_type_and_every_enabled_application"],
        ),
        rule(
            "another model is asked the same",
            agent["another_model_is_asked_the_same_under_its_own_name_g_02"],
        ),
        rule(
            "users attach what the application takes",
            Tests("chat/test_attached.py")["a_question_takes_files_of_these_types_alone"],
            Tests("chat/test_attached.py")["the_page_is_told_which_files_it_may_offer"],
        ),
    ),
    "G-03": (
        otherwise(
            "tools are made with the first request, once however many there are",
            "What a manifest asks for is prepared once for each version of an application; opening "
            "a tool for a caller is cheap, and connections are shared.",
            Tests("catalog/test_resolve.py")["a_burst_asks_the_database_once"],
            Tests("capabilities/mcp/test_pool.py")["many_runs_at_once_share_one_connection"],
            Tests("capabilities/mcp/test_pool.py")[
                "what_is_read_of_tools_is_prepared_once_for_all_callers"
            ],
        ),
    ),
    "G-04": (
        rule(
            "a dead server costs its tools, and one stage names it",
            Tests("capabilities/mcp/test_runs.py")[
                "a_toolset_that_cannot_be_opened_is_reported_and_the_answer_comes"
            ],
            Tests("runs/test_issues.py")["a_run_names_the_toolsets_whose_tools_it_goes_without"],
        ),
    ),
    "G-05": (
        rule(
            "one system message, in front",
            Tests("runs/test_prompt.py")["the_parts_of_the_prompt_are_one_message_in_front"],
            agent["another_model_is_asked_the_same_under_its_own_name_g_02"],
        ),
    ),
    "G-06": (
        rule(
            "pieces of several calls are put together",
            replies["interleaved_pieces_of_several_calls_are_put_together"],
        ),
        rule("the text beside them is shown", replies["text_is_shown_as_it_comes_and_kept_whole"]),
    ),
    "G-07": (
        rule(
            "calls run at once, results keep the order of the calls",
            loop["calls_run_at_the_same_time_and_their_results_keep_their_order"],
        ),
    ),
    "G-08": (rule("there is a limit of rounds", loop["a_limit_of_n_is_n_questions_to_the_model"]),),
    "G-09": (
        rule(
            "words leave before the answer is complete",
            completions["the_first_words_leave_before_the_answer_is_complete"],
        ),
    ),
    "G-10": (
        rule(
            "the next request shows the model the same calls",
            run["the_next_request_shows_the_model_the_calls_of_the_last_one"],
            history["stored_calls_come_back_before_their_answer_grouped_as_they_were"],
        ),
        rule(
            "services are sent nothing of custom_content",
            Tests("workspace/openai/test_model.py")["the_request_is_what_the_service_expects"],
        ),
    ),
    "G-11": (
        rule(
            "the model is told the addresses of attachments",
            Tests("capabilities/attachments/test_view.py")[
                "users_and_tools_attachments_are_told_and_those_of_the_model_are_not"
            ],
        ),
    ),
    "G-12": (
        rule(
            "an unknown tool is answered",
            loop["an_unknown_tool_is_answered_with_how_to_go_on"],
        ),
        rule(
            "arguments that are no JSON are answered",
            loop["arguments_that_are_no_json_are_answered_with_the_reason"],
        ),
        rule(
            "an answer without state is kept",
            history["an_answer_without_a_history_stays_as_it_is"],
        ),
        otherwise(
            "without a conversation's id the request's counts",
            "No conversation has to be named: requests bring theirs whole.",
            completions["an_answer_is_given_whole"],
        ),
    ),
    "G-13": (
        otherwise(
            "a description of more than 1024 characters is refused when it is saved",
            "It is warned of: there are models that take it, and manifests that have it.",
            Tests("manifest/test_warnings.py")["descriptions_that_models_refuse_are_told"],
            built_in["descriptions_are_short_enough_for_every_model"],
        ),
    ),
    "G-14": (
        rule(
            "a tool that fails leaves its siblings alone and the run goes on",
            loop["a_tool_that_fails_leaves_its_siblings_alone"],
            Tests("agent/test_calls.py")["an_unexpected_failure_is_told_without_its_details"],
        ),
        rule(
            "its stage has failed",
            stages["a_failure_that_leaves_the_wrapper_closes_the_stage_as_failed"],
        ),
    ),
    "G-15": (
        rule(
            "a stage has arguments and answer",
            deployment["the_answer_is_shown_while_it_arrives"],
            stages["the_request_shows_each_argument_as_the_manifest_says"],
        ),
    ),
    "G-16": (
        rule(
            "the prompt is the question, all else is configuration",
            deployment["the_prompt_is_the_question_and_all_else_configuration_g_16"],
        ),
    ),
    "G-17": (
        rule(
            "the tool has the arguments that its users know",
            built_in["the_picture_tool_has_the_schema_that_its_users_know_g_17"],
        ),
        rule(
            "its picture stands in the answer",
            built_in["a_picture_of_the_built_in_tool_stands_in_the_answer_g_17"],
            deployment["pictures_stand_in_the_answer_and_the_model_is_told_so"],
            agent["a_drawn_picture_stands_in_the_answer_and_among_the_files"],
        ),
    ),
    "G-18": (
        rule(
            "deployments are asked with static functions",
            deployment["static_tools_are_passed_on_as_they_are_and_arguments_become_fields"],
        ),
        rule(
            "a small server of our own is there to be called",
            Tests("capabilities/mcp/test_capability.py")["a_server_over_http_is_called"],
        ),
        otherwise(
            "there is a calculator",
            "Code computes more than four operations; the interpreter needs no key.",
            agent["a_sum_is_computed"],
        ),
    ),
}
