"""§10 what a person sees of a call."""

from __future__ import annotations

from tests.contract.rules import Scripts, Table, Tests, otherwise, rule

stages = Tests("capabilities/wrappers/test_stages.py")
results = Tests("capabilities/wrappers/test_results.py")
rest = Tests("capabilities/rest/test_capability.py")

TABLE: Table = {
    "10.1": (
        rule(
            "the configured name if the stage is shown, else the localised name",
            stages["the_title_is_the_configured_or_the_localized_name_and_one_value"],
        ),
        otherwise(
            "the localised name is the toolset's",
            "It is the toolset's and the tool's, so that calls at the same time can be told apart.",
            rest["parallel_calls_of_one_toolset_are_told_apart"],
            rest["the_stage_tells_the_toolset_and_the_tool_or_the_function_alone"],
            Tests("capabilities/deployment/test_calls.py")[
                "the_stage_tells_the_toolset_and_the_tool_or_the_application"
            ],
        ),
        rule(
            "each kind has a name where the toolset has none",
            rest["the_stage_tells_the_toolset_and_the_tool_or_the_function_alone"],
            Tests("capabilities/deployment/test_calls.py")[
                "the_stage_tells_the_toolset_and_the_tool_or_the_application"
            ],
            Tests("capabilities/interpreter/test_capability.py")[
                "a_call_is_shown_with_its_title_its_code_and_its_result"
            ],
        ),
        rule(
            "the value of the first parameter with show_value_in_stage_title follows",
            stages["the_title_is_the_configured_or_the_localized_name_and_one_value"],
        ),
        rule(
            "what of the title is known before the arguments opens the stage",
            stages["only_what_is_sure_to_be_shown_begins_early"],
        ),
        rule(
            "the execution time of a call is appended to the name, where titles alone are shown",
            stages["the_stage_of_a_call_tells_how_long_it_took_to_those_who_show_titles_alone"],
            Tests("gateway/test_wire.py")[
                "stages_are_numbered_in_one_sequence_and_know_their_parent"
            ],
        ),
        otherwise(
            "the stage of an MCP tool is called like its toolset",
            "It tells the tool as well: a server has many, and several may be called at once.",
            Tests("capabilities/mcp/test_dial_toolsets.py")[
                "the_name_that_dial_knows_wins_and_stages_are_in_the_language_of_the_caller"
            ],
            Tests("peers/test_everything.py")["what_it_has_is_listed_and_its_refusals_are_told"],
        ),
    ),
    "10.2": (
        rule(
            "labels, prefix, suffix, format, order, ignore, replaced value",
            stages["the_request_shows_each_argument_as_the_manifest_says"],
        ),
        rule(
            "a configured body stands in for the request",
            stages["a_configured_body_stands_in_for_the_request"],
        ),
        rule(
            "fences are longer than those inside",
            stages["a_fence_is_longer_than_any_inside_and_its_language_cannot_end_it"],
        ),
        rule("long values are cut with a notice", stages["a_long_argument_is_cut_with_a_notice"]),
        rule(
            "attachments that survive are added to the stage",
            Tests("capabilities/rest/test_answers.py")[
                "an_answer_becomes_a_file_where_that_is_wished"
            ],
        ),
        rule(
            "a stage fails only if the failure leaves the wrapper",
            stages["a_failure_that_leaves_the_wrapper_closes_the_stage_as_failed"],
            stages["a_call_is_shown_always_or_when_it_fails_or_never"],
        ),
        otherwise(
            "(ours) people see that a tool failed whose failure a strategy took",
            "The page marks its stage failed, live and after a reload; on the wire it is completed.",
            stages["a_stage_that_began_early_or_stays_open_is_excused_as_others_are"],
            Tests("chat/test_protocol.py")["every_event_has_a_frame_or_is_not_shown"],
            Tests("gateway/test_wire.py")[
                "stages_are_numbered_in_one_sequence_and_know_their_parent"
            ],
            Scripts("scripts/conversation.test.js")[
                "a step that failed stays marked though the answer goes on, also after a reload"
            ],
        ),
        otherwise(
            "a stage is completed whenever a strategy took the failure",
            "One that shows a part of an answer that broke off reads failed, so that nobody takes "
            "the part for the whole.",
            Tests("capabilities/deployment/test_calls.py")[
                "the_stage_of_an_answer_that_broke_off_reads_failed"
            ],
        ),
    ),
    "10.3": (
        rule(
            "none, error, info, debug; the installation's level wins; show=false hides successes",
            stages["the_installations_level_wins_over_the_applications"],
        ),
        rule(
            "at error the stage appears when the call fails",
            stages["a_call_is_shown_always_or_when_it_fails_or_never"],
        ),
        rule(
            "stages inside a hidden call are hidden",
            stages["stages_inside_a_hidden_call_are_hidden_too"],
        ),
    ),
    "10.4": (
        rule(
            "names are in the language of the request, else English, else any",
            stages["the_title_is_in_the_language_of_the_caller"],
            Tests("manifest/test_names.py")["text_is_told_in_the_nearest_language"],
        ),
        rule(
            "the first language of the header is the request's",
            Tests("accounts/test_authentication.py")["the_first_language_is_the_locale"],
        ),
    ),
}
