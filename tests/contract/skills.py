"""§15 skills, m1.14 their documents and the API that checks them (m2.2)."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

document = Tests("manifest/test_skill_document.py")
content = Tests("catalog/content/test_skills.py")
capability = Tests("capabilities/skills/test_capability.py")
read_tool = Tests("capabilities/skills/test_read_tool.py")
picks = Tests("capabilities/skills/test_picks.py")
dial = Tests("workspace/dial/test_skills.py")
nested = Tests("runs/test_nested.py")
support = Tests("gateway/test_support.py")
offload = Tests("capabilities/files/test_offload.py")

TABLE: Table = {
    "15": (
        rule(
            "front matter: names, lengths, metadata, allowed-tools",
            document["everything_that_a_skill_says_is_read_as_it_was_written"],
            document["a_name_that_cannot_be_one_is_refused"],
            document["every_broken_rule_is_told_at_once"],
            document["what_is_said_has_its_limits"],
            document["tools_can_be_a_list"],
        ),
        rule(
            "predefined: a directory named like its skill; invalid ones are told and left out",
            content["skills_that_can_be_used_are_read_with_their_files"],
            content["what_is_wrong_is_told_with_file_and_key_and_the_skill_is_left_out"],
            content["starts_and_the_command_tell_broken_skills"],
        ),
        otherwise(
            "only SKILL.md of a predefined skill is read",
            "Texts beside it are offered like those of a folder in Core; the same limits hold.",
            content["skills_that_can_be_used_are_read_with_their_files"],
            document["files_that_cannot_be_read_are_told_and_the_others_kept"],
            document["a_skill_has_so_many_files"],
        ),
        rule(
            "later layers replace a skill as a whole",
            content["a_row_replaces_the_skill_of_a_directory_with_all_its_files"],
            content["a_row_that_cannot_be_used_leaves_nothing_in_its_place"],
        ),
        rule(
            "dial-prompt: fetched each request; what is missing or invalid is a soft issue",
            capability["prompts_and_folders_of_core_are_skills"],
            capability["one_that_cannot_be_used_is_told_and_the_others_stay"],
            capability["without_dial_a_skill_of_core_is_told_to_be_missing"],
        ),
        rule(
            "dial-skill: text files beside SKILL.md, by their endings; limits; only what is listed",
            dial["a_skill_is_its_manifest_and_the_text_files_beside_it"],
            read_tool["files_of_a_skill_of_core_are_read_with_the_rights_of_the_caller"],
            read_tool["a_skill_whose_files_cannot_be_listed_says_so"],
            read_tool["a_document_that_is_too_large_for_the_installation_drops_the_skill"],
        ),
        rule(
            "merged once: predefined, prompts, folders; the first wins and the loser is reported",
            capability["of_skills_with_one_name_predefined_ones_go_first_then_prompts"],
            capability["each_is_fetched_once_in_a_run"],
            capability["the_list_is_made_once_for_the_predefined_content"],
        ),
        rule(
            "a failure as a whole falls back to the predefined ones, and is hard",
            capability["while_core_cannot_be_asked_only_the_predefined_ones_are_there"],
            capability["what_nobody_foresaw_leaves_the_predefined_ones"],
        ),
        rule(
            "the prompt lists them as XML, and nothing where there are none",
            capability["the_predefined_skills_are_listed_and_the_tool_is_there"],
            capability["what_skills_say_of_themselves_cannot_break_out_of_the_list"],
            capability["without_skills_there_is_nothing_to_read"],
        ),
        rule(
            "the tool: the document with its files, or one of them; what it says of mistakes",
            read_tool["a_skill_is_read_with_the_names_of_its_files"],
            read_tool["a_file_that_is_listed_is_read"],
            read_tool["what_cannot_be_read_is_told_with_what_can"],
        ),
        rule(
            "the stage is named after the skill",
            read_tool["the_call_is_shown_in_a_stage_of_its_own"],
        ),
        rule(
            "how files are passed is read at the beginning of every conversation",
            capability["every_conversation_begins_with_how_files_are_passed"],
            capability["a_new_text_of_that_skill_takes_the_place_of_the_old_one"],
        ),
        otherwise(
            "what was put in travels in the state",
            "An answered question leaves none of it behind: each request puts it in anew, in the "
            "same place, so that states stay small and the text is never an old one.",
            picks["a_picked_skill_is_read_right_after_its_question"],
        ),
        rule(
            "picked skills: a pair after the message, newest first, at most so many",
            picks["a_picked_skill_is_read_right_after_its_question"],
            picks["only_so_many_of_the_newest_are_used"],
            picks["a_picked_skill_is_listed_and_can_be_read"],
        ),
        rule(
            "a pick that fails: an error that names it, and a reported issue",
            picks["a_pick_that_fails_is_told_to_the_model_and_to_the_operator"],
            picks["while_core_cannot_be_asked_every_pick_fails"],
            picks["what_is_no_pick_is_told_once_and_left_out"],
        ),
        rule(
            "a picked skill wins over one of its name",
            picks["a_picked_skill_goes_before_one_of_the_application"],
            picks["of_two_picked_ones_with_one_name_the_newest_is_used"],
            picks["a_skill_that_is_both_picked_and_configured_is_one"],
        ),
        rule(
            "the field is taken out, with preview and without",
            picks["without_preview_picks_are_taken_out_and_nothing_else"],
            picks["picks_of_answers_are_nobodys_wish"],
        ),
        rule(
            "results of the tool are never moved into a file",
            offload["what_is_small_or_excluded_stays_as_it_is"],
        ),
        otherwise(
            "a client's tool that has the name of one of ours is refused",
            "Not one of the platform's own: where an application drives another, both have those, "
            "and each uses its own.",
            nested["an_application_that_drives_another_has_skills_of_its_own"],
        ),
    ),
    "m1.14": (
        rule(
            "lenient: BOM, CRLF, blank space, fences, colons without quotes",
            document["what_can_only_be_meant_in_one_way_is_read_in_that_way"],
            document["a_text_with_a_colon_is_read_without_quotes_and_told"],
            document["what_was_hardly_meant_is_told"],
        ),
        rule(
            "YAML that cannot be read, or would grow, is refused",
            document["front_matter_that_cannot_be_read_is_told_with_what_to_do"],
            document["references_cannot_make_a_text_grow"],
            document["a_text_of_no_bearable_size_is_refused"],
        ),
        rule(
            "the support API lists predefined skills",
            support["the_predefined_skills_are_listed_with_what_they_say_of_themselves"],
        ),
        rule(
            "validate: 200, 401, 404, 422, with the key of the request",
            support["a_skill_of_core_is_fetched_with_the_key_of_the_request"],
            support["a_key_that_core_does_not_know_is_refused"],
            support["a_skill_that_is_not_there_is_as_one_of_somebody_else"],
            support["a_skill_that_cannot_be_used_is_told_why"],
            support["what_is_no_skill_is_told_with_its_place"],
        ),
        otherwise(
            "400 for a kind that cannot be validated; no status for an outage",
            "dial-skill is validated where preview features are on, and 400 where they are off; "
            "502 while Core cannot be asked.",
            support["a_kind_of_skill_that_is_a_preview_is_refused_without_it"],
            support["while_core_cannot_be_asked_that_is_told"],
        ),
    ),
}
