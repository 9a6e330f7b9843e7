"""T-30: tools that the page of a conversation runs."""

from __future__ import annotations

from tests.contract.rules import Scripts, Table, Tests, otherwise, rule

calls = Scripts("scripts/client-calls.test.js")
client_calls = Tests("chat/test_client_calls.py")
client_tools = Tests("capabilities/client_tools/test_capability.py")
client_tool_names = Tests("manifest/test_client_tools.py")
durations = Tests("agent/test_durations.py")
page_tools = Tests("browser/test_client_tools.py")
runs = Tests("runs/test_run.py")
tasks = Tests("chat/test_tasks.py")
validation = Tests("manifest/test_validation.py")

TABLE: Table = {
    "T-30": (
        rule(
            "a tool of the page says its name, description, parameters and permission",
            client_tools[
                "the_model_is_told_of_a_tool_as_it_is_declared_under_a_name_that_it_may_have"
            ],
            client_tool_names["a_permission_is_one_of_the_admin"],
        ),
    ),
    "T-31": (
        rule(
            "the model gets the tools of all toolsets; two of one name are refused",
            validation["two_tools_of_one_name_are_a_mistake"],
            client_tool_names["two_names_that_the_model_could_not_tell_apart_are_a_mistake"],
        ),
    ),
    "T-32": (
        rule(
            "`scope.verb` becomes a name that models accept",
            client_tool_names["a_name_has_parts_and_becomes_one_that_models_accept"],
            client_tool_names["other_names_are_refused"],
        ),
        rule(
            "`_platform.` is reserved",
            client_tool_names["the_prefix_of_the_platform_is_for_its_own_tools"],
            client_tool_names["no_other_tool_takes_the_prefix_of_the_platform"],
        ),
    ),
    "R-23": (
        rule(
            "one name for a tool, which everything that names tools goes by; a second one is refused",
            runs["of_two_tools_of_a_name_the_first_is_used_and_the_other_reported"],
            durations["r_23_the_prefix_of_a_toolset_is_part_of_the_name_that_counts"],
        ),
    ),
    "T-33": (
        rule(
            "the browser runs the call, and the model reads its result",
            page_tools["the_model_fills_in_a_field_which_the_person_undoes_by_keyboard"],
            client_calls[
                "the_page_is_asked_and_its_result_reaches_the_model_through_another_process"
            ],
        ),
    ),
    "T-34": (
        rule(
            "only the whole page has these tools, whatever another surface calls itself",
            client_calls["only_the_whole_page_has_tools"],
            client_calls["no_other_surface_can_be_named"],
            tasks["a_program_has_no_page_that_could_run_tools"],
        ),
    ),
    "T-35": (
        rule(
            "a result is taken in any process: 200",
            client_calls[
                "the_page_is_asked_and_its_result_reaches_the_model_through_another_process"
            ],
        ),
        rule(
            "an unknown call or a late result: 404",
            client_calls["a_result_for_an_unknown_call_or_one_that_is_over_is_not_found"],
            client_calls[
                "a_result_after_its_time_is_not_found_and_the_model_is_told_of_the_silence"
            ],
        ),
        rule(
            "without the permission: 403, and the call stays open",
            client_calls["who_has_lost_the_permission_is_refused_and_the_call_stays_open"],
        ),
        rule(
            "malformed: 400, and the call stays open",
            client_calls["what_is_malformed_is_refused_and_the_call_stays_open"],
        ),
    ),
    "T-36": (
        rule(
            "a call that is denied never reaches the page, and the model is told",
            client_calls["a_call_that_a_rule_denies_never_reaches_the_page"],
            client_calls["the_page_is_not_asked_for_a_person_without_the_permission"],
            client_calls["a_person_approves_before_the_page_is_asked"],
        ),
    ),
    "T-37": (
        otherwise(
            "`_platform.ui.inspect_active_module` comes with the page",
            "It is `_platform.inspect_page`: there is one page and no modules.",
            calls["the model reads what the page shows, without its secrets"],
        ),
    ),
}
