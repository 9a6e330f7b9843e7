"""Manifest §§1.8-1.12: what is written of tools."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

tools = Tests("manifest/test_tools.py")
reading = Tests("manifest/test_validation.py")
advice = Tests("manifest/test_warnings.py")
preview = Tests("manifest/test_preview.py")
schema = Tests("manifest/test_schema.py")
credentials = Tests("manifest/test_credentials.py")
stages = Tests("capabilities/wrappers/test_stages.py")
arguments = Tests("capabilities/wrappers/test_arguments.py")
fallbacks = Tests("capabilities/wrappers/test_fallbacks.py")

TABLE: Table = {
    "m1.8": (
        rule(
            "type may be left out; the shape decides",
            reading["the_shape_of_a_tool_tells_its_kind"],
        ),
        rule(
            "fields and defaults of each kind",
            tools["what_a_tool_does_not_say_is_filled_in"],
            tools["what_a_tool_of_a_deployment_does_not_say_is_filled_in"],
            tools["displays_have_defaults"],
        ),
        rule(
            "methods are get, post, put and delete; null is for what may be null",
            tools["what_is_no_tool_is_told_with_its_place"],
        ),
        rule(
            "preview fields are null without preview",
            preview["without_preview_its_features_read_as_null_and_its_models_are_gone"],
        ),
        rule(
            "texts of a stage may name arguments",
            stages["the_title_is_the_configured_or_the_localized_name_and_one_value"],
            stages["a_configured_body_stands_in_for_the_request"],
        ),
        rule(
            "the schema is the reference's, but for what is listed there",
            schema["the_registered_schema_differs_from_the_reference_only_where_we_know"],
        ),
    ),
    "m1.9": (
        rule(
            "objects and arrays need a description, nested ones too",
            reading["a_mistake_is_told_with_its_place"],
            tools["what_is_no_tool_is_told_with_its_place"],
        ),
        rule(
            "type null with const is a hidden constant of any value",
            tools["a_constant_may_be_any_value"],
            arguments["a_constant_never_appears_in_schema_or_error"],
        ),
        rule(
            "nested values drop default and display",
            tools["nested_values_lose_what_only_parameters_have"],
        ),
        rule(
            "REST parameters say where they go",
            reading["a_mistake_is_told_with_its_place"],
            reading["a_parameter_says_how_it_is_encoded"],
        ),
        rule(
            "how an argument is shown",
            stages["the_request_shows_each_argument_as_the_manifest_says"],
            tools["displays_have_defaults"],
        ),
        rule(
            "a default stands in for what is left out; one that does not fit is warned of",
            arguments["null_for_what_may_be_left_out_means_left_out_and_a_default_takes_its_place"],
            advice["a_default_that_its_parameter_would_refuse_is_told"],
        ),
        rule(
            "descriptions beyond 1024 characters are told",
            advice["descriptions_that_models_refuse_are_told"],
        ),
    ),
    "m1.10": (
        rule(
            "null means the default, [] drops all",
            reading["null_in_an_attachment_filter_means_the_default"],
            Tests("capabilities/wrappers/test_results.py")[
                "attachments_are_filtered_then_given_types_then_shown"
            ],
        ),
        rule(
            "generated tools of deployments show nothing on the answer",
            Tests("capabilities/deployment/test_calls.py")[
                "what_a_generated_tool_brings_stays_in_its_stage"
            ],
        ),
        rule(
            "response_as_attachment has three modes",
            Tests("capabilities/rest/test_answers.py")[
                "an_answer_becomes_a_file_where_that_is_wished"
            ],
        ),
    ),
    "m1.11": (
        rule(
            "kinds, old names and their defaults",
            tools["what_is_no_tool_is_told_with_its_place"],
            tools["an_old_strategy_has_instructions_of_its_own"],
            advice["old_spellings_are_told_with_the_new_ones"],
        ),
        otherwise(
            "whether instructions without a trigger are used is told in two ways",
            "They are not, with a warning when the manifest is written and when it is used.",
            advice["instructions_for_every_error_are_in_vain"],
            fallbacks["what_should_be_written_otherwise_is_warned_of_once"],
        ),
    ),
    "m1.12": (
        rule(
            "five kinds for REST, four for MCP, which has no location",
            tools["who_is_calling_is_told_in_ways_that_differ_by_the_kind"],
        ),
        rule("scope and aud are text", tools["scope_and_audience_are_text"]),
        rule("a secret is never repeated", reading["a_secret_is_never_repeated"]),
        otherwise(
            "credentials are plain text in the manifest",
            "They can be names of secrets; plain ones are shown nowhere but in the row.",
            credentials["every_kind_of_authorization_has_its_place"],
            Tests("catalog/test_masking.py")[
                "a_masked_document_tells_only_whether_credentials_are_equal"
            ],
            Tests("site/test_secrets.py")["no_credential_is_seen_anywhere"],
            Tests("site/test_secret_objects.py")["no_object_of_a_run_shows_a_credential"],
            Tests("site/test_secret_objects.py")[
                "no_traceback_shows_what_was_held_where_it_was_raised"
            ],
        ),
    ),
}
