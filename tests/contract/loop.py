"""§4 the loop, and §5 what is streamed while it turns."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

loop = Tests("agent/test_loop.py")
recovery = Tests("agent/test_recovery.py")
thoughts = Tests("agent/test_thoughts.py")
replies = Tests("agent/test_replies.py")
early = Tests("agent/test_early.py")
run = Tests("runs/test_run.py")
stages = Tests("capabilities/wrappers/test_stages.py")
text = Tests("agent/test_argument_text.py")

TABLE: Table = {
    "4": (
        rule(
            "a limit of n is n calls of the model", loop["a_limit_of_n_is_n_questions_to_the_model"]
        ),
        rule("-1 is no limit", loop["minus_one_is_no_limit"]),
        otherwise(
            "there is no lower bound for the limit",
            "0 and what is below -1 are refused when a manifest is checked; in one that is stored "
            "they are an initialization issue, and the installation's limit counts.",
            Tests("manifest/test_validation.py")["a_mistake_is_told_with_its_place"],
            Tests("manifest/test_validation.py")[
                "what_costs_no_more_than_a_part_is_refused_when_it_is_checked_and_not_when_it_runs"
            ],
            run["a_limit_that_is_none_is_told_and_the_installations_counts"],
        ),
        rule(
            "the state is saved at the limit", run["a_run_that_reaches_its_limit_leaves_its_state"]
        ),
        rule(
            "what was gathered is saved, however the run ends",
            run["a_model_that_fails_leaves_the_state_of_what_was_done"],
            run["a_cancelled_run_closes_everything_and_saves_its_state"],
            loop["what_was_gathered_outlives_a_model_that_fails"],
        ),
        rule(
            "an empty answer is kept as one space",
            Tests("runs/test_prompt.py")["an_answer_that_said_nothing_is_a_space"],
        ),
        rule(
            "calls of one turn run at once, results keep the order of the calls",
            loop["calls_run_at_the_same_time_and_their_results_keep_their_order"],
        ),
        rule(
            "an attachment is on the answer once",
            loop["an_attachment_is_shown_once_whoever_brings_it"],
        ),
        rule(
            "an unknown tool is answered in its place",
            loop["an_unknown_tool_is_answered_with_how_to_go_on"],
        ),
        rule(
            "a static tool is never run here; the model is told where it runs (§3.5)",
            loop["a_tool_that_the_models_service_runs_is_said_to_run_there"],
            Tests("capabilities/deployment/test_calls.py")[
                "a_static_tool_that_the_deployment_asks_us_for_is_said_to_run_at_its_service"
            ],
            Tests("dial/test_requests.py")[
                "tools_that_a_deployment_runs_itself_stand_behind_ours_and_are_never_run_here"
            ],
        ),
        rule(
            "a hidden tool is answered with who calls it",
            run["a_hidden_tool_is_not_told_of_and_cannot_be_called"],
        ),
        rule(
            "arguments are strict JSON, and one object",
            loop["arguments_that_are_no_json_are_answered_with_the_reason"],
            loop["arguments_that_are_no_object_are_answered_with_what_they_are"],
            loop["no_arguments_at_all_are_an_empty_object"],
        ),
        rule(
            "one recovery in a request, wherever the model failed",
            recovery["there_is_one_recovery_in_a_run_wherever_the_model_failed"],
            recovery["the_model_is_asked_again_with_what_was_rewritten_and_that_is_kept"],
            recovery["a_stream_that_breaks_off_is_recovered_as_well_and_its_text_stays_apart"],
        ),
        rule(
            "a recovery that does not help leaves the first error",
            recovery["a_recovery_that_does_not_help_leaves_the_first_error"],
            recovery["without_a_recovery_the_error_stands"],
        ),
        otherwise(
            "(ours) a service that refuses what its model thought before is asked without it",
            "Some services want it back with the calls that it led to, some refuse it.",
            thoughts["a_service_that_refuses_thoughts_is_asked_without_them"],
        ),
        rule(
            "stages that wait tell what a recovery made of their results",
            recovery["a_stage_that_waits_for_the_answer_tells_what_its_result_became"],
        ),
        rule(
            "tool_choice is for the first call of the model",
            loop["parameters_of_the_first_question_are_not_repeated"],
        ),
        rule(
            "a tool cannot be demanded where there is none",
            run["a_tool_can_only_be_demanded_where_there_is_one"],
        ),
        otherwise(
            "tool_choice is passed as is",
            "A name that the model is not told of would be refused by its service in words for "
            "administrators. A tool that discovery withholds is listed at once, any other name is "
            "refused with what to write.",
            run["a_tool_that_the_model_does_not_have_cannot_be_demanded"],
            Tests("capabilities/discovery/test_capability.py")[
                "a_tool_that_the_client_demands_is_listed_at_once"
            ],
        ),
        rule(
            "tools of the client end the loop and are never run",
            loop["tools_of_the_client_are_passed_on_and_never_run"],
            loop["calls_of_the_client_alone_leave_nothing_behind"],
        ),
        rule(
            "a hard stop ends the run after the siblings",
            loop["a_tool_that_stops_the_run_lets_the_others_finish_first"],
        ),
        rule(
            "usage of models and tools is added up, also of what failed",
            loop["what_models_and_tools_spent_is_gathered"],
            replies["the_usage_of_each_model_wins_over_the_sum"],
            run["what_a_failed_run_cost_is_told_last"],
        ),
        rule(
            "response_format goes to the model",
            run["parameters_of_the_deployment_yield_to_the_manifest_and_that_to_the_client"],
        ),
        rule(
            "results are enriched and processed in order",
            loop["steps_change_results_on_their_way_to_the_model_in_their_order"],
        ),
        rule(
            "one tool that fails leaves the others alone",
            loop["a_tool_that_fails_leaves_its_siblings_alone"],
            loop["a_tool_that_cancels_itself_fails_and_the_run_goes_on"],
        ),
    ),
    "5": (
        otherwise(
            "every call of the model begins with newline and carriage return",
            "Only a second text is set apart, by an empty line: a first answer that begins with "
            "white space spoils what programs read.",
            replies["a_lead_separates_the_text_from_an_earlier_answer"],
            loop["an_empty_line_stands_between_the_texts_of_two_answers"],
        ),
        rule("text goes out as it comes", replies["text_is_shown_as_it_comes_and_kept_whole"]),
        rule(
            "attachments of the model are shown and kept, its state is merged",
            replies["state_and_attachments_of_the_model_are_kept_with_its_message"],
            Tests("agent/test_messages.py")["an_attachment_has_either_data_or_an_address"],
        ),
        rule(
            "calls are put together by their index",
            replies["interleaved_pieces_of_several_calls_are_put_together"],
            replies["calls_that_a_service_numbers_all_zero_are_told_apart_by_their_ids"],
        ),
        rule(
            "stages of the model are mirrored, and closed when its answer begins",
            replies["the_stages_of_the_model_are_shown_and_closed_when_its_answer_begins"],
            replies["the_stages_of_the_model_can_be_hidden"],
        ),
        rule(
            "stages of the model fail with its stream",
            replies["the_stages_of_the_model_fail_when_its_stream_breaks"],
        ),
        otherwise(
            "(ours) what a service tells beside the text that its model thinks is a stage as well",
            "Services other than DIAL's have no stages; clients of OpenAI's dialect read it under a "
            "key of its own.",
            thoughts["thoughts_are_a_stage_of_their_own_and_no_part_of_the_answer"],
            thoughts["thoughts_end_when_the_model_calls_a_tool_and_fail_when_it_breaks_off"],
            Tests("gateway/test_dial.py")["core_is_told_what_a_model_thinks_as_a_stage"],
        ),
        rule(
            "a tool's stage opens while its arguments arrive, and the call takes it over",
            early["the_stage_opens_at_the_first_argument_and_the_call_takes_it_over"],
            early["a_tool_that_shows_no_argument_has_its_title_early"],
            stages["only_what_is_sure_to_be_shown_begins_early"],
        ),
        rule(
            "code is shown while it is written, never as raw JSON",
            stages["a_streamed_argument_looks_as_one_that_arrived_whole"],
            stages["a_streamed_argument_that_cannot_be_shown_as_it_came_is_shown_all_the_same"],
            text["the_text_is_decoded_while_it_arrives"],
            text["every_text_comes_through_in_whatever_pieces"],
        ),
        rule(
            "what nobody takes over closes as failed",
            early["a_call_that_cannot_be_read_closes_its_stage_as_failed"],
            early["an_answer_that_breaks_off_closes_its_stages_as_failed"],
        ),
        rule(
            "defer_close keeps a stage open until the next answer",
            stages["a_stage_that_stays_open_is_closed_after_the_next_answer"],
        ),
    ),
}
