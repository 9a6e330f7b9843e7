"""§14.1 the interpreter, §14.9 finding tools."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

capability = Tests("capabilities/interpreter/test_capability.py")
dial = Tests("capabilities/interpreter/test_dial.py")
sandbox = Tests("capabilities/interpreter/test_sandbox.py")
discovery = Tests("capabilities/discovery/test_capability.py")
kinds = Tests("capabilities/discovery/test_kinds.py")
chooser = Tests("capabilities/discovery/test_chooser.py")

TABLE: Table = {
    "14.1": (
        rule(
            "the predefined tool: parameters, types, fallback",
            capability["the_predefined_tool_is_a_tool_of_a_manifest"],
            capability["it_is_there_only_where_a_manifest_asks_for_it"],
        ),
        rule(
            "the title is in the stage's title, the code in its body",
            capability["a_call_is_shown_with_its_title_its_code_and_its_result"],
            capability["a_long_title_is_cut_after_seven_words"],
            capability["a_tool_without_displays_shows_the_code_all_the_same"],
        ),
        rule(
            "six operations, with the key of the caller",
            dial["the_first_call_opens_a_session_and_the_next_one_uses_it"],
            dial["a_fresh_session_closes_the_old_one"],
            dial["files_are_brought_into_the_session_once"],
            dial["without_a_key_of_the_caller_nothing_is_sent"],
        ),
        rule(
            "statuses become ordinary results that say what to do; so does an empty body",
            dial["a_failure_is_an_ordinary_result_that_says_what_to_do"],
        ),
        rule("a time-out is one of the tool", dial["a_slow_answer_is_a_time_out_of_the_tool"]),
        rule(
            "what may be asked twice is, three times; code never is",
            dial["what_may_be_asked_twice_is_repeated"],
            dial["it_is_repeated_only_so_often"],
        ),
        rule(
            "a key of its own: another DIAL, with copies of the files",
            dial["another_dial_gets_its_own_key_and_a_copy_of_the_files"],
        ),
        rule(
            "the session: of this request, else the newest answer's, else the configured, else new",
            dial["a_session_of_an_earlier_answer_is_checked_once_and_used"],
            dial["the_newest_answer_that_names_a_session_counts"],
            dial["the_configured_session_is_used_where_there_is_no_other"],
            dial["a_session_that_is_gone_is_replaced_silently"],
            dial["a_session_that_closes_meanwhile_is_told_and_then_replaced"],
        ),
        otherwise(
            "no id after opening is a ValueError",
            "To the model it is a tool that failed, in the sentence for all of those.",
            dial["a_service_that_names_no_session_is_a_failure_of_the_tool"],
        ),
        rule(
            "input files: the end of an attachment's URL, spaces encoded or not, present ones not again",
            dial["files_are_brought_into_the_session_once"],
            dial["a_file_from_elsewhere_becomes_one_of_the_callers_first"],
        ),
        rule(
            "what is wrong with files is told at once, and the code does not run",
            dial["code_does_not_run_while_a_file_is_missing"],
            sandbox["code_does_not_run_while_a_file_is_missing"],
        ),
        rule(
            "result and output are read page by page where wanted",
            capability["long_output_is_read_page_by_page"],
        ),
        rule(
            "of each kind the last is displayed; media become attachments with numbered titles",
            dial["what_is_displayed_becomes_attachments"],
            dial["an_attachment_without_a_title_has_none"],
        ),
        rule(
            "without an owner of files an attachment travels in the answer",
            sandbox["without_an_owner_of_files_an_attachment_travels_in_the_answer"],
        ),
        rule(
            "code that fails is an ordinary result",
            dial["code_that_fails_is_an_ordinary_result"],
        ),
        otherwise(
            "(ours) without a DIAL a sandbox runs the code",
            "So that an installation without Core has an interpreter; variables travel signed.",
            sandbox["variables_are_there_in_the_next_request"],
            sandbox["variables_that_were_tampered_with_are_not_loaded"],
        ),
    ),
    "14.9": (
        rule(
            "toolsets of so many tools are withheld; the installation says how many",
            discovery["a_large_toolset_is_withheld_until_the_model_searches_for_its_tools"],
            discovery["the_installation_says_how_many_tools_are_many"],
            kinds["a_toolset_is_withheld_from_so_many_tools_on"],
            discovery["toolsets_are_counted_one_by_one_and_tools_of_no_toolset_stay"],
        ),
        rule(
            "deferred: false, and tools of deployments, are always listed",
            discovery["some_toolsets_are_always_listed"],
        ),
        rule(
            "the service model is asked, else the orchestrator's, with names and descriptions",
            discovery["without_a_service_model_the_orchestrators_own_deployment_is_asked"],
            chooser["the_model_is_told_the_catalogue_and_the_query"],
            chooser["only_known_names_of_an_array_count"],
        ),
        otherwise(
            "(ours) where no model chooses, or not in time, the words of the query do",
            "A search that fails would leave the model without most of its tools.",
            discovery["where_no_model_can_choose_the_words_of_the_query_do"],
            discovery["a_model_that_takes_too_long_is_left_for_the_words_of_the_query"],
        ),
        rule(
            "REST, MCP and internal tools can be found",
            kinds["tools_of_a_rest_service"],
            kinds["tools_of_an_mcp_server"],
            kinds["internal_tools"],
        ),
        rule(
            "what was found stays, in later requests too",
            discovery["what_was_found_is_listed_in_the_next_request_as_well"],
            discovery["a_state_that_lies_lists_nothing"],
        ),
        rule(
            "the tool's description names the toolsets",
            discovery["the_search_tells_the_model_which_toolsets_there_are"],
        ),
    ),
}
