"""D: the notes that people and agents keep together."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

browser = Tests("browser/test_notes.py")
content = Tests("catalog/content/test_built_in.py")
filters = Tests("notes/test_filters.py")
listing = Tests("notes/test_note_lists.py")
page = Tests("chat/notes/test_pages.py")
store = Tests("notes/test_store.py")
tools = Tests("capabilities/notes/test_capability.py")
transfer = Tests("notes/test_transfer.py")
vectors = Tests("notes/test_vectors.py")

TABLE: Table = {
    "D-45": (
        rule(
            "notes are found by a filter",
            filters["notes_are_found"],
            filters["words_of_languages_without_spaces_are_found"],
            filters["what_is_not_understood_is_said"],
            tools["a_search_returns_texts_as_data"],
        ),
        rule(
            "and by their meaning, none below the threshold",
            vectors["the_most_alike_come_first_and_none_below_the_threshold"],
            tools["a_search_by_meaning_embeds_what_is_new_and_leaves_out_what_is_unlike"],
        ),
        rule(
            "embeddings are updated, or made anew",
            vectors["only_what_was_changed_is_embedded_again"],
            vectors["another_model_embeds_everything_again"],
            tools["embeddings_are_updated_part_by_part"],
        ),
        rule(
            "nothing of one workspace is seen in another",
            tools["nothing_of_one_team_is_seen_in_another"],
            page["nobody_reaches_the_notes_of_others"],
            page["in_a_team_the_notes_are_those_of_the_team"],
        ),
    ),
    "D-46": (
        rule("backlinks", listing["backlinks_are_the_notes_whose_text_leads_there"]),
        rule(
            "a tree that leads back into itself ends",
            listing["a_tree_that_leads_back_into_itself_ends"],
        ),
        rule(
            "pages of a list have all once, and no bodies",
            tools["lists_have_no_bodies_and_their_pages_have_all_notes_once"],
        ),
        rule(
            "what is wrong with a note is said",
            listing["what_is_wrong_with_a_note_is_said_with_its_line"],
            tools["links_contents_and_what_is_new_are_listed"],
        ),
    ),
    "D-47": (
        rule(
            "the old text has to stand there once",
            tools["a_part_of_a_text_is_changed_where_it_stands_once"],
        ),
        rule(
            "changes wait for the person",
            tools["changes_wait_for_the_person_unless_the_application_says_otherwise"],
            browser["what_an_agent_writes_is_approved_marked_linked_and_undone"],
        ),
        rule(
            "notes are changed, renamed with their links, and deleted",
            tools["notes_are_changed_renamed_and_deleted"],
            tools["what_cannot_be_done_is_said_by_its_parameter"],
        ),
        rule(
            "two who write at once lose nothing",
            store["an_edit_is_made_again_of_what_somebody_else_wrote_meanwhile"],
            store["nothing_is_lost_when_many_write_at_once"],
            page["who_is_slower_is_shown_both_texts_and_overwrites_nothing_unseen"],
        ),
    ),
    "D-48": (
        otherwise(
            "a tool runs scripts over notes",
            "No script runs here. An MCP server that runs them is a toolset like any other, in a "
            "process of its own, and its calls wait where `approval` says `confirm`.",
            Tests("browser/test_interactions.py")[
                "a_call_is_approved_with_a_changed_argument_after_a_reload"
            ],
        ),
    ),
    "D-50": (
        rule(
            "Git comes as the toolset of an MCP server",
            content["there_is_what_manifests_written_elsewhere_refer_to"],
            content["every_toolset_resolves_as_it_is"],
        ),
        rule(
            "notes go into a folder that Git can keep, and back",
            transfer["all_notes_go_there_and_back_with_their_files"],
            transfer["commands_write_and_read_a_folder"],
        ),
    ),
    "R-23": (
        rule(
            "tools keep the names that prompts know, and providers take these",
            tools["the_tools_have_the_names_that_prompts_know"],
        ),
    ),
}
