"""§9 MCP servers, toolsets and applications of DIAL."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

capability = Tests("capabilities/mcp/test_capability.py")
connections = Tests("capabilities/mcp/test_connections.py")
pool = Tests("capabilities/mcp/test_pool.py")
trouble = Tests("capabilities/mcp/test_misbehaviour.py")
secrets = Tests("capabilities/mcp/test_secrets.py")
redaction = Tests("capabilities/mcp/test_redaction.py")
resources = Tests("capabilities/mcp/test_resources.py")
schemas = Tests("capabilities/mcp/test_input_schemas.py")
structured = Tests("capabilities/mcp/test_structured_content.py")
restarts = Tests("capabilities/mcp/test_restarts.py")
toolsets = Tests("capabilities/mcp/test_dial_toolsets.py")
app = Tests("capabilities/dial_app/test_capability.py")

TABLE: Table = {
    "9.1": (
        rule(
            "servers over HTTP, and programs that an administrator registered",
            capability["a_server_over_http_is_called"],
            capability["a_registered_program_is_called"],
            capability["a_program_that_is_not_registered_is_an_issue"],
        ),
        rule(
            "toolsets of DIAL are asked where Core says, with the key of the request",
            toolsets["a_toolset_is_sent_what_the_workspace_says_and_nothing_else"],
        ),
        rule(
            "a secret stands in for any credential; a rotated one opens another session",
            secrets["a_rotated_secret_opens_another_session"],
            secrets["a_session_that_goes_on_sends_the_rotated_secret"],
            secrets["a_secret_that_cannot_be_sent_is_an_issue_with_its_place"],
        ),
        rule(
            "what a server repeats of a credential is passed on to nobody",
            redaction["what_a_server_repeats_is_shown_without_credentials"],
            redaction["answers_that_cannot_be_read_are_not_logged"],
        ),
        otherwise(
            "all X- headers of the caller are sent along",
            "Those alone that the toolset names: a manifest may name any host.",
            connections["headers_of_the_caller_go_where_the_toolset_names_them_and_nowhere_else"],
            connections["sessions_differ_by_the_headers_that_they_carry"],
        ),
        rule(
            "a toolset that fails is a hard issue of its own",
            trouble["a_server_that_cannot_be_used_is_an_issue"],
            trouble["the_rest_of_the_application_goes_on"],
            toolsets["a_toolset_that_cannot_be_had_is_an_issue"],
        ),
        rule(
            "allowed_tools are exact names of the server",
            trouble["a_thousand_tools_are_no_harm_when_some_are_named"],
        ),
        rule(
            "schemas are resolved; one that cannot be used costs its tool alone",
            capability["tools_are_told_with_their_names_and_resolved_schemas"],
            schemas["references_inside_the_document_are_resolved"],
            trouble["a_tool_without_a_usable_schema_is_left_out_alone"],
        ),
        rule(
            "how it failed is told by status, without the address",
            trouble["a_refusal_over_http_is_told_by_its_status"],
            trouble["a_report_never_repeats_the_address"],
        ),
    ),
    "9.2": (
        rule(
            "one session serves all calls, those of many runs at once too",
            pool["many_runs_at_once_share_one_connection"],
            pool["a_caller_finds_the_session_again_and_another_caller_gets_another"],
        ),
        otherwise(
            "sessions end with the request",
            "Those of servers that the manifest names are kept for the caller and end when idle; "
            "those of DIAL's toolsets end with the run, as their keys do.",
            pool["idle_sessions_end_and_come_back_when_needed"],
            toolsets["sessions_end_with_the_run_and_differ_by_the_key"],
            toolsets["sessions_have_ended_when_the_run_has"],
            toolsets["a_server_that_hears_no_goodbye_holds_nobody_up"],
        ),
        rule(
            "a failed opening is not remembered for ever",
            pool["a_server_that_fails_is_left_in_peace_for_longer_and_longer"],
        ),
        otherwise(
            "(ours) a session that its server forgot is replaced, and the call made once more",
            "Kept sessions outlive the processes of their servers; only what was refused before "
            "anything was done is asked again.",
            restarts["a_server_that_forgot_the_session_gets_a_new_one"],
            restarts[
                "a_server_that_was_started_anew_is_asked_again_by_all_who_were_in_its_session"
            ],
            restarts["what_a_server_says_of_anything_else_is_no_reason_to_ask_again"],
            restarts["a_call_that_was_taken_is_not_repeated_whatever_is_refused_after_it"],
        ),
        rule(
            "the tool's time-out holds for opening and calling",
            trouble["a_server_that_never_answers_is_an_issue_in_time"],
            trouble["a_call_that_goes_wrong_is_told_to_the_model"],
        ),
        rule(
            "a tool is tried again only if its server says it may be repeated",
            capability["only_a_tool_that_says_it_may_be_repeated_is_called_again"],
        ),
    ),
    "9.3": (
        rule(
            "all toolsets that want a sign-in are asked for at once, and why not is told",
            toolsets["people_are_asked_once_to_sign_in_to_all_toolsets_that_want_it"],
            toolsets["why_nobody_signed_in_is_told_and_the_others_go_on"],
            toolsets["a_sign_in_that_does_not_help_is_told_and_not_asked_for_again"],
        ),
        rule(
            "plain servers say that they want one",
            toolsets["nobody_is_asked_to_sign_in_to_a_server_that_the_manifest_names"],
        ),
        rule(
            "a 401 during a call: sign in, try once more",
            toolsets["a_sign_in_that_ended_during_a_run_is_asked_for_once_by_all_calls"],
            toolsets["a_call_without_a_sign_in_fails_as_calls_do"],
        ),
        rule(
            "a challenge in a result signs in by its scope",
            toolsets["a_service_behind_a_tool_may_want_a_sign_in"],
            toolsets["services_behind_any_server_may_want_one"],
        ),
    ),
    "9.4": (
        rule(
            "text, images and resources are kept, other content is left out",
            capability["every_kind_of_content_is_kept"],
        ),
        rule(
            "isError is a failure that strategies decide over",
            capability["a_failing_tool_is_told_to_the_model_through_the_fallback"],
        ),
        otherwise(
            "structuredContent is not used",
            "It stands in where no block says anything: else the model would read nothing. What is "
            "binary in it is named by type and size.",
            capability["structured_content_stands_in_for_missing_text"],
            capability["structured_content_that_repeats_a_picture_is_not_told_as_text"],
            capability["a_picture_that_is_in_structured_content_alone_is_named"],
            structured["what_is_binary_is_named_and_everything_else_stays"],
        ),
    ),
    "9.5": (
        rule(
            "files are shared with the toolset before it is called",
            toolsets["files_are_shared_with_the_toolset_before_it_is_called"],
            toolsets["files_that_cannot_be_shared_are_told_and_nothing_is_called"],
        ),
        rule(
            "files from elsewhere are invalid parameters",
            toolsets["only_files_of_dial_can_be_shared"],
        ),
    ),
    "9.6": (
        rule(
            "auto: MCP where it is offered, else one tool that asks",
            app["an_application_that_speaks_mcp_brings_its_tools"],
            app["an_application_that_does_not_is_one_tool_that_asks_it"],
        ),
        rule(
            "mcp: an issue where it is not offered",
            app["an_application_that_has_to_speak_mcp_and_does_not_is_an_issue"],
        ),
        rule(
            "chat-completion: nothing is looked up",
            app["an_application_that_is_asked_in_any_case_is_not_looked_up"],
        ),
        rule(
            "what the branch does not use is warned of",
            app["what_is_written_in_vain_is_told_once"],
        ),
    ),
    "9.7": (
        rule(
            "off unless wanted; a card for each resource; read_mcp_resource",
            resources["resources_are_off_unless_they_are_asked_for"],
            resources["what_can_be_read_is_listed_in_the_prompt"],
            resources["a_resource_is_read"],
            resources["only_what_the_operator_named_can_be_read"],
        ),
        rule(
            "eager resources are read ahead once, and are a soft issue when they fail",
            resources["an_eager_resource_is_read_ahead_once"],
            resources["an_eager_resource_that_cannot_be_read_is_a_soft_issue"],
        ),
    ),
}
