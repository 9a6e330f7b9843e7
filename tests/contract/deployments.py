"""§7 deployments as tools."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

capability = Tests("capabilities/deployment/test_capability.py")
calls = Tests("capabilities/deployment/test_calls.py")
conversations = Tests("capabilities/deployment/test_conversations.py")
files = Tests("capabilities/deployment/test_attachments.py")
services = Tests("capabilities/deployment/test_services.py")
applications = Tests("capabilities/deployment/test_applications.py")
citations = Tests("capabilities/deployment/test_citations.py")
loader = Tests("workspace/loading/test_loader.py")

TABLE: Table = {
    "7": (
        rule(
            "query and attachment_urls are added where they are missing",
            capability["a_written_tool_is_told_as_it_is_written_and_can_be_asked"],
            capability["parameters_that_are_written_are_not_added_again"],
        ),
        rule(
            "a simple tool is made of what Core knows",
            capability["a_simple_tool_is_made_of_what_is_known_of_the_deployment"],
            capability["a_simple_tool_of_a_deployment_without_files_has_no_parameter_for_them"],
            capability["a_configuration_schema_that_is_none_is_left_out"],
        ),
        rule(
            "arguments become fields or configuration, over the configured ones; null and {} go",
            calls["static_tools_are_passed_on_as_they_are_and_arguments_become_fields"],
            calls["the_configuration_of_a_simple_tool_is_filled_in_by_the_model"],
        ),
        otherwise(
            "every other argument becomes a field of the request",
            "Only those that the function declares: what a model makes up goes nowhere, and no "
            "argument can replace messages, model, stream, stream_options or tools.",
            calls["static_tools_are_passed_on_as_they_are_and_arguments_become_fields"],
            capability["a_parameter_that_would_replace_a_field_of_the_request_is_refused"],
        ),
        rule(
            "an empty query is worth a warning",
            calls["a_call_without_a_query_is_only_worth_a_warning"],
        ),
        rule(
            "the answer is streamed into the stage under its heading",
            calls["the_answer_is_shown_while_it_arrives"],
        ),
        rule(
            "text, attachments, state and usage come back; usage_per_model is preferred",
            calls["attachments_state_and_usage_come_back"],
            services["an_application_of_dial_answers_with_all_that_it_has"],
        ),
        rule(
            "the prompt of the tool goes in front",
            calls["the_prompt_of_the_tool_goes_in_front"],
        ),
        rule(
            "a deployment is asked again only where wanted, and only before it began to answer",
            calls["a_deployment_is_asked_again_only_before_its_answer_was_shown"],
            calls["a_failure_tells_whether_and_when_another_attempt_may_do_better"],
        ),
        rule(
            "a deployment that fails is told to the model; strategies decide",
            calls["a_deployment_that_fails_is_told_to_the_model"],
            calls["the_strategies_of_the_manifest_decide_over_failures"],
            services["a_service_that_refuses_is_told_by_its_status_alone"],
        ),
        rule(
            "an application that would call itself is refused",
            capability["a_circle_becomes_an_issue_that_names_the_way"],
            applications["a_circle_is_told_in_the_place_of_the_tool"],
        ),
    ),
    "7.1": (
        rule(
            "the schema gains session_id, which is not forwarded",
            capability["a_resumable_tool_can_be_told_which_conversation_goes_on"],
            conversations["the_name_of_the_conversation_is_not_sent"],
        ),
        rule(
            "the first answer ends in the id of its call",
            conversations["a_new_conversation_is_named_after_its_first_call"],
            conversations["new_conversations_at_the_same_time_have_names_of_their_own"],
            conversations["an_answer_that_is_cut_still_names_its_conversation"],
        ),
        rule(
            "a later call is sent all answered calls of its conversation, with what they brought",
            conversations["a_conversation_goes_on_with_everything_that_was_said_in_it"],
            services["an_application_of_dial_is_given_its_state_when_its_conversation_goes_on"],
        ),
        rule(
            "calls that are not answered yet do not count",
            conversations["calls_at_the_same_time_go_on_from_what_was_answered_before_them"],
        ),
        rule(
            "of arguments that cannot be read only the id counts; no question, no user message",
            conversations["a_first_call_that_cannot_be_read_counts_without_its_question"],
        ),
        rule(
            "files of earlier calls are resolved anew; one that is gone does not matter",
            conversations["a_file_that_is_gone_does_not_end_the_conversation"],
        ),
        rule(
            "without session_id the older mode pools all calls",
            conversations["the_older_mode_makes_one_conversation_of_all_calls"],
            conversations["without_the_mode_every_call_stands_alone"],
        ),
    ),
    "7.2": (
        rule(
            "propagate_headers names the headers that go along; null is all X- headers",
            calls["the_manifest_says_which_headers_go_along_and_how_long_silence_may_last"],
            Tests("runs/test_nested.py")["only_the_named_headers_go_along"],
            services["a_plain_service_gets_the_question_and_nothing_of_the_caller"],
        ),
    ),
    "7.3": (
        otherwise(
            "stages of a deployment are shown with the tool's name in front",
            "They stand below the tool's stage, as DIAL's parent_stage_index says; the name in "
            "front would repeat the line above. 'Stage n' names one without a name.",
            calls["the_stages_of_the_deployment_stand_below_the_one_of_the_tool"],
            applications[
                "the_stages_of_the_inner_application_stand_below_the_tool_and_usage_adds_up"
            ],
            Tests("capabilities/deployment/test_doors.py")[
                "the_stages_of_the_inner_application_are_nested_on_the_wire"
            ],
        ),
        otherwise(
            "stages that cannot be rendered are folded into the tool's stage as text",
            "Showing cannot fail: events are handed over without waiting. Where sub-stages are "
            "hidden, nothing of them is shown.",
            calls["the_stages_of_the_deployment_can_be_hidden"],
        ),
    ),
    "7.4": (
        rule(
            "annotations are a preview field of both kinds of tool",
            Tests("manifest/test_preview.py")[
                "without_preview_its_features_read_as_null_and_its_models_are_gone"
            ],
            citations["they_are_left_out_unless_the_manifest_wants_them"],
        ),
        rule(
            "annotations go to the answer as they came",
            citations["annotations_are_part_of_the_result_as_they_came"],
            citations["annotations_come_through_nested_applications_where_preview_is_on"],
        ),
        rule(
            "the prompt asks for the anchors to be copied",
            citations["the_model_is_told_to_copy_the_anchors"],
        ),
    ),
    "7.5": (
        rule(
            "files of DIAL go by their path, prefixes are taken off",
            files["files_of_the_caller_go_by_their_path"],
        ),
        rule(
            "an address goes as it is to a deployment that fetches",
            files["addresses_go_to_those_that_fetch_them_themselves"],
        ),
        rule(
            "for the others a file of the Internet is fetched and kept first",
            loader["a_file_of_the_internet_becomes_one_of_the_callers_once"],
            files["what_cannot_be_sent_is_refused_with_what_can"],
        ),
        rule(
            "a data: URI is kept, within the size limit, and never repeated",
            files["data_in_an_address_becomes_a_file_of_the_caller"],
            files["files_that_are_too_large_are_refused"],
            loader["no_error_repeats_the_data_of_a_data_uri"],
        ),
        rule(
            "other schemes are invalid parameters without secrets",
            files["what_cannot_be_sent_is_refused_with_what_can"],
        ),
        rule(
            "lists keep their order",
            files["a_deployment_that_cannot_fetch_files_is_sent_what_is_in_them"],
        ),
    ),
}
