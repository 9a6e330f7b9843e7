"""m4 predefined content: its layers, references, patches and what is built in; m5 the examples."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

layers = Tests("catalog/content/test_layers.py")
references = Tests("catalog/content/test_references.py")
resolved = Tests("catalog/content/test_resolve.py")
patches = Tests("catalog/content/test_patches.py")
rows = Tests("catalog/content/test_rows.py")
review = Tests("catalog/content/test_review.py")
built_in = Tests("catalog/content/test_built_in.py")
configuration = Tests("catalog/content/test_configuration.py")
examples = Tests("dial/test_examples.py")
advice = Tests("manifest/test_warnings.py")

TABLE: Table = {
    "m4.1": (
        rule(
            "a file for each item, named like it; skills are directories",
            layers["every_file_is_an_item_named_like_it"],
            rows["skills_are_their_files_by_path"],
            references["names_are_names_and_never_paths"],
        ),
    ),
    "m4.2": (
        rule(
            "later layers replace whole files, the configuration is joined key by key",
            layers["a_later_layer_replaces_whole_files_by_name"],
            layers["the_configuration_of_layers_is_joined_key_by_key"],
            rows["the_log_tells_what_each_layer_brings_and_replaces"],
        ),
        otherwise(
            "the last layer is a directory",
            "The database lies above all directories, and operators edit it in the admin.",
            rows["directories_lie_above_each_other_and_rows_above_them"],
            Tests("browser/test_operator_content.py")[
                "content_is_changed_mended_reset_and_a_skill_is_put_to_use"
            ],
        ),
        rule(
            "a layer that is missing stops the start",
            rows["a_layer_that_is_missing_stops_the_start"],
        ),
        otherwise(
            "a file that cannot be read stops the start",
            "It is told at the start, by the command and in the admin, and what is fine goes on.",
            review["every_start_warns_of_broken_content"],
            review["the_command_fails_with_everything_that_is_wrong"],
            Tests("console/admin/test_home.py")[
                "the_first_page_tells_of_broken_content_before_anybody_uses_it"
            ],
        ),
        otherwise(
            "everything is read once, at the start",
            "What changes is seen a second later, in every process.",
            layers["content_is_read_again_when_a_file_has_changed"],
            rows["every_change_of_a_row_is_seen_and_nothing_else_is_read_again"],
        ),
        rule(
            "a bad default configuration counts as empty",
            configuration["a_file_that_is_no_object_counts_as_empty"],
        ),
    ),
    "m4.3": (
        rule(
            "prompts, toolsets and the tools in them become what they stand for",
            references["a_prompt_gets_its_text_and_other_text_is_never_believed"],
            references["a_toolset_and_the_tools_in_it_become_what_they_stand_for"],
            references["a_tool_of_an_inline_toolset_becomes_what_it_stands_for"],
        ),
        rule(
            "what is switched off stays a reference",
            references["what_is_switched_off_is_not_even_looked_for"],
        ),
        rule(
            "what is invalid with its patch is left out and told with its places",
            references["what_is_invalid_with_its_patch_is_told_with_its_places"],
            resolved["what_cannot_be_resolved_is_told_once_and_the_rest_goes_on"],
        ),
        otherwise(
            "an unknown toolset fails the request",
            "It is left out and told with similar names, as everything else that is wrong.",
            references["what_leads_nowhere_stays_in_its_place_and_the_rest_goes_on"],
        ),
        rule(
            "an unknown prompt fails the request",
            references["without_its_prompt_an_application_must_not_answer"],
            resolved["an_application_that_has_lost_its_prompt_does_not_answer"],
        ),
        rule(
            "the default configuration has its toolsets written out and nothing else",
            configuration["only_toolsets_are_written_out_and_what_cannot_be_is_left_out"],
            configuration["what_is_no_list_of_toolsets_is_given_as_it_is"],
        ),
    ),
    "m4.4": (
        rule(
            "a patch is an RFC 7396 merge patch",
            Tests("manifest/test_overrides.py")["the_cases_of_the_rfc"],
            patches["a_patch_does_nothing_the_second_time"],
            patches["a_patch_changes_neither_what_it_patches_nor_itself"],
            patches["no_null_of_a_patch_is_left_in_an_object"],
        ),
        otherwise(
            "a key `type` at any depth refuses the patch",
            "Only the type of the item itself cannot be patched; parameters have types, too.",
            references["patches_may_add_what_has_a_type"],
            patches["every_patch_resolves_or_is_told_with_its_place"],
        ),
        rule(
            "a patch that is refused costs its item and an issue, not the application",
            references["a_patch_of_the_items_own_type_costs_the_item_alone"],
            Tests("catalog/test_resolve.py")[
                "what_is_refused_today_and_was_stored_before_costs_its_part_and_not_the_application"
            ],
            Tests("manifest/test_validation.py")[
                "what_costs_no_more_than_a_part_is_refused_when_it_is_checked_and_not_when_it_runs"
            ],
        ),
        rule(
            "the patch of a reference that is switched off is not evaluated",
            references["a_patch_of_the_items_own_type_costs_the_item_alone"],
            Tests("manifest/test_validation.py")["a_mistake_is_told_with_its_place"],
        ),
    ),
    "m4.5": (
        rule(
            "what manifests refer to is built in, resolves, and does what it is for",
            built_in["there_is_what_manifests_written_elsewhere_refer_to"],
            built_in["every_toolset_resolves_as_it_is"],
            built_in["every_tool_resolves_in_a_toolset_of_its_kind"],
            built_in["the_hub_asks_its_deployments_for_what_the_model_wants"],
            built_in["the_built_in_interpreter_works_as_it_is"],
            built_in["the_built_in_location_works_as_it_is"],
            resolved["the_built_in_weather_works_as_it_is"],
            built_in["every_skill_is_read_when_a_model_asks_for_it"],
        ),
        rule(
            "{today} and names of the operator's are filled in",
            resolved["the_built_in_prompts_know_the_day_and_leave_nothing_to_fill_in"],
            resolved["a_prompt_of_the_database_is_filled_in_as_one_of_a_file_is"],
        ),
    ),
    "m5": (
        rule("1: the smallest", examples["the_smallest_tells_the_time"]),
        rule("2: a REST service", examples["rest_calls_go_out_with_path_query_header_and_body"]),
        rule("3: deployments", examples["deployments_answer_each_in_its_way"]),
        rule(
            "4: MCP servers, toolsets and applications",
            examples["tools_come_from_servers_toolsets_and_applications"],
        ),
        rule(
            "5: a predefined toolset and a prompt of Core",
            examples["a_predefined_toolset_and_a_prompt_of_core_are_put_in"],
        ),
        rule(
            "6: features and a prompt that is a skill",
            examples["features_bring_the_tools_that_were_chosen_and_a_skill_of_core"],
        ),
        rule("7: preview features", examples["preview_features_work_together"]),
        rule(
            "8: old spellings load with warnings, and run",
            advice["old_spellings_are_told_with_the_new_ones"],
            examples["old_spellings_still_run"],
        ),
    ),
}
