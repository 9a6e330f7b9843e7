"""§6 what all tools share."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

arguments = Tests("capabilities/wrappers/test_arguments.py")
results = Tests("capabilities/wrappers/test_results.py")
fallbacks = Tests("capabilities/wrappers/test_fallbacks.py")
stages = Tests("capabilities/wrappers/test_stages.py")
naming = Tests("manifest/test_names.py")
rest = Tests("capabilities/rest/test_requests.py")
preview = Tests("manifest/test_preview.py")
mcp = Tests("capabilities/mcp/test_capability.py")
toolsets = Tests("capabilities/mcp/test_dial_toolsets.py")
access = Tests("capabilities/deployment/test_access.py")
dial_app = Tests("capabilities/dial_app/test_capability.py")
deployment = Tests("capabilities/deployment/test_capability.py")
run = Tests("runs/test_run.py")

TABLE: Table = {
    "6.1": (
        rule(
            "the toolset's name goes in front; of a localised one the English",
            naming["the_toolset_goes_in_front"],
            Tests("capabilities/rest/test_capability.py")[
                "the_model_reads_name_description_and_visible_parameters"
            ],
            mcp["tools_are_told_with_their_names_and_resolved_schemas"],
        ),
        rule(
            "the name that Core knows wins over the configured one",
            toolsets["the_name_that_dial_knows_wins_and_stages_are_in_the_language_of_the_caller"],
        ),
        rule(
            "tools of deployments keep their names; a simple one is named after its deployment",
            deployment["a_written_tool_is_told_as_it_is_written_and_can_be_asked"],
            deployment["a_simple_tool_is_made_of_what_is_known_of_the_deployment"],
        ),
        rule(
            "what providers refuse becomes _, and a digit or - does not lead",
            naming["a_name_becomes_one_that_models_accept"],
            naming["any_text_gives_a_name"],
        ),
        otherwise(
            "names are cut at 64 characters",
            "A hash of the whole takes the last nine of them, so that long names stay different.",
            naming["names_that_are_too_long_stay_different"],
        ),
        otherwise(
            "collisions are not detected, the last tool wins",
            "Where the manifest alone tells, it cannot be saved and both tools are named; else the "
            "first tool is used and the other one is an initialization issue.",
            Tests("manifest/test_validation.py")["two_tools_of_one_name_are_a_mistake"],
            Tests("catalog/test_review.py")[
                "a_name_that_predefined_content_brings_a_second_time_is_an_error"
            ],
            run["of_two_tools_of_a_name_the_first_is_used_and_the_other_reported"],
        ),
    ),
    "6.2": (
        rule(
            "the stage opens, shows the request, then the work",
            stages["a_call_is_shown_always_or_when_it_fails_or_never"],
        ),
        otherwise(
            "arguments reach the tool as they were written",
            "They are checked against the tool's schema first; the model is told each wrong "
            "parameter with its path, what was found and what was expected.",
            arguments["every_violation_is_told_with_path_what_was_found_and_what_is_expected"],
            arguments["whatever_is_given_is_refused_with_a_path_or_fits_with_every_constant"],
            arguments["the_tool_sees_checked_arguments_only"],
            arguments["a_flood_of_violations_is_cut"],
            arguments["what_was_found_is_repeated_in_short"],
            arguments["a_name_with_dots_and_brackets_is_told_as_it_is"],
        ),
        rule(
            "null for what may be left out is left out; a default takes its place",
            arguments["null_for_what_may_be_left_out_means_left_out_and_a_default_takes_its_place"],
            arguments["a_required_parameter_that_is_null_is_told_so"],
        ),
        rule(
            "5.0 is an integer",
            arguments["a_whole_number_is_an_integer_however_it_was_written"],
        ),
        rule(
            "attachments are filtered, then given types, then chosen for the answer",
            results["attachments_are_filtered_then_given_types_then_shown"],
            results["what_a_tool_shows_itself_stays_shown_once"],
        ),
        rule(
            "types match exactly or by their first half; no type never does",
            results["types_match_exactly_or_by_their_first_half"],
        ),
        rule(
            "one line in the log for each call, without what was said",
            results["a_call_is_one_line_in_the_log_without_what_was_said"],
            fallbacks["a_call_that_fails_unexpectedly_is_one_line_with_its_traceback"],
        ),
        otherwise(
            "an invalid parameter passes by all strategies, with a retry instruction",
            "The sentence names the parameter and what is wrong, and ends in 'Correct it and call "
            "the tool again.'; sources disagree on the wording.",
            fallbacks["an_invalid_parameter_passes_by_every_strategy"],
            Tests("agent/test_loop.py")["a_wrong_argument_is_to_be_corrected"],
        ),
        otherwise(
            "the stage shows the real error where display_error_in_stage is on",
            "An error that nobody foresaw is shown as one sentence: its text may hold secrets.",
            fallbacks["the_stage_shows_the_error_unless_the_manifest_hides_it"],
            fallbacks["an_unexpected_failure_is_not_told"],
        ),
        rule(
            "what the model gets is cut with a notice",
            results["the_models_copy_is_cut_with_a_notice"],
        ),
    ),
    "6.3": (
        rule(
            "constants are hidden from the model and always sent",
            arguments["a_constant_never_appears_in_schema_or_error"],
            rest["constants_are_sent_wherever_they_belong_whatever_the_model_writes"],
            rest["constants_inside_objects_and_lists_are_sent_and_cannot_be_replaced"],
        ),
        rule(
            "hidden_from_model: not told, not callable, its name stays taken",
            mcp["hidden_tools_are_not_told_to_the_model"],
            run["a_hidden_tool_is_not_told_of_and_cannot_be_called"],
        ),
        rule(
            "hidden names must be allowed ones; the preview gate comes after that check",
            preview["a_hidden_tool_that_is_not_allowed_is_a_mistake_with_preview_and_without"],
        ),
        rule(
            "without preview hidden tools are visible",
            preview["hidden_tools_are_visible_without_preview"],
        ),
        rule(
            "the access filter leaves out what may not be used, before it is looked up",
            access["what_may_not_be_used_is_left_out_without_a_word_and_never_looked_up"],
            toolsets["toolsets_that_may_not_be_used_are_left_out_before_anything_is_asked"],
            dial_app["applications_that_may_not_be_used_are_left_out_before_they_are_looked_up"],
        ),
        rule(
            "the access filter fails open",
            access["where_it_cannot_be_told_everything_may_be_used"],
        ),
        rule(
            "one question for all; plain servers are never filtered",
            dial_app["one_question_covers_applications_and_toolsets"],
            toolsets["servers_that_the_manifest_names_are_never_filtered"],
        ),
        rule(
            "the access filter is off unless wanted",
            access["nothing_is_left_out_unless_it_is_wanted"],
        ),
    ),
}
