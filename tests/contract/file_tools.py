"""§14.5 file tools, §14.6 large results, §14.7 web fetch, §14.8 adding attachments."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

tools = Tests("capabilities/files/test_tools.py")
paths = Tests("capabilities/files/test_paths.py")
offload = Tests("capabilities/files/test_offload.py")
runs = Tests("capabilities/files/test_runs.py")
web = Tests("capabilities/web/test_capability.py")
web_in_core = Tests("capabilities/web/test_core.py")
representation = Tests("capabilities/representation/test_capability.py")
documents = Tests("documents/test_reader.py")
growing = Tests("documents/test_document.py")

TABLE: Table = {
    "14.5": (
        rule(
            "dial_files null is off, and enabled_tools chooses",
            tools["applications_that_do_not_ask_have_no_file_tools"],
            tools["titles_and_names_are_those_that_clients_know"],
        ),
        rule(
            "relative paths are below the agent's folder, absolute ones begin with files/",
            tools["a_file_is_written_and_its_lines_are_read"],
            paths["what_may_be_written_is_below_the_folder_for_all_who_keep_files"],
            paths["what_is_told_of_a_path_leads_there_again"],
        ),
        rule(
            "what is no path is refused before anything is asked",
            paths["these_name_no_file_that_may_be_written"],
            paths["these_name_no_file_that_may_be_read"],
            paths["a_folder_has_these_names"],
        ),
        rule(
            "list: sizes, folders with a slash, to a depth",
            tools["a_folder_is_listed_as_deep_as_it_is_asked_for"],
        ),
        rule(
            "read_lines: from 0, the last one exclusive",
            tools["a_file_is_written_and_its_lines_are_read"],
            tools["more_lines_than_there_is_room_for_are_asked_for_one_after_the_other"],
        ),
        rule(
            "search: a text in a file, or below a folder up to max_files_scanned",
            tools["a_folder_is_searched"],
            tools["lines_around_what_was_found_are_shown_once"],
            tools["of_too_much_that_was_found_the_beginning_is_shown"],
        ),
        rule(
            "find: a pattern for names",
            tools["files_are_found_by_their_names"],
            paths["patterns_fit_whole_paths_or_names"],
        ),
        rule(
            "write creates or, with overwrite, replaces; two at once are told apart",
            tools["a_file_is_not_replaced_unless_that_is_wanted"],
            tools["of_two_who_create_a_file_at_once_one_is_told"],
        ),
        rule(
            "edit needs a unique match and loses nothing of others",
            tools["one_place_of_a_file_is_edited"],
            tools["an_edit_that_is_not_clear_changes_nothing"],
            tools["two_who_edit_at_once_lose_nothing"],
        ),
        rule("delete, copy, move", tools["files_are_copied_moved_and_deleted"]),
        rule(
            "stages with their titles",
            tools["a_call_is_shown_with_what_is_written_and_what_came_of_it"],
            tools["titles_and_names_are_those_that_clients_know"],
        ),
        rule("files of others are as if missing", tools["anothers_files_are_as_if_missing"]),
        otherwise(
            "text tools are for UTF-8 alone",
            "PDF, Word, Excel and pages of the Web are read as text, with marks of pages and sheets; "
            "a long PDF page by page, as far as it is wanted; a scan says that it is one.",
            tools["documents_are_read_and_searched_as_text"],
            tools["of_a_long_pdf_the_pages_that_are_needed_are_read_and_no_more"],
            tools["what_could_not_be_read_in_time_is_told_and_read_on_later"],
            documents["the_pages_of_a_pdf_are_told_apart_and_a_scan_is_called_one"],
            growing["no_page_is_read_twice_and_many_at_a_time_when_many_are_wanted"],
        ),
    ),
    "14.6": (
        rule(
            "a large result goes into a file, is attached, and told with the way to read it",
            offload["a_large_result_is_read_back_from_a_file"],
            runs["the_model_finds_what_it_needs_in_a_large_result"],
        ),
        rule(
            "small ones, excluded tools and those that read back stay",
            offload["what_is_small_or_excluded_stays_as_it_is"],
        ),
        rule("it fails open", offload["a_result_that_cannot_be_kept_stays_as_it_is"]),
        rule(
            "the installation decides where the application does not",
            offload["the_installation_decides_where_the_application_does_not_say"],
        ),
        rule(
            "without read_lines and search it is an issue",
            offload["without_the_tools_to_read_them_back_results_stay_and_the_operator_is_told"],
        ),
    ),
    "14.7": (
        rule(
            "text in a code block; binary is a parameter error",
            web["a_text_is_shown_in_a_code_block"],
            web["a_text_cannot_leave_its_code_block"],
            web["what_is_not_text_is_not_shown"],
        ),
        rule(
            "of a large one a notice and the head, cut at a line, below the cap",
            web["of_a_long_text_the_beginning_is_shown_to_the_end_of_a_line"],
            web["a_result_is_always_below_the_limit"],
        ),
        rule(
            "save_path keeps any type below the agent's folder, with a preview of text",
            web["a_file_of_any_type_is_kept_in_the_agents_own_folder"],
            web["of_a_text_that_is_kept_the_beginning_is_shown"],
            web["nothing_is_fetched_for_a_path_that_leads_elsewhere"],
            web_in_core["a_file_of_any_type_is_kept_in_the_callers_own_folder"],
            web_in_core["a_file_is_never_replaced"],
            web_in_core["a_core_that_fails_meanwhile_is_told"],
        ),
        rule("a file of DIAL is not fetched", web["what_is_in_dial_storage_is_not_fetched"]),
        rule(
            "while egress is off, an issue and no tool",
            web["where_nothing_may_be_fetched_there_is_no_tool"],
            web["an_application_that_does_not_ask_for_it_has_no_tool"],
        ),
        rule(
            "fetched once in a request",
            web["fifty_calls_at_the_same_time_are_one_request"],
        ),
        otherwise(
            "(ours) pages are shown as Markdown",
            "A model reads a page without its scripts and menus in a tenth of the tokens.",
            web["a_page_is_shown_as_markdown_with_whole_links"],
        ),
    ),
    "14.8": (
        rule(
            "any URL becomes an attachment of the answer, with its title and type",
            representation["a_stored_file_is_added_with_its_type"],
            representation["a_link_stays_a_link"],
            representation["a_link_of_the_conversation_keeps_its_type_and_title"],
            representation["the_title_is_what_the_model_says_in_one_line"],
        ),
        rule(
            "only where an application asks for it",
            representation["an_application_that_does_not_ask_for_it_has_no_tool"],
        ),
        otherwise(
            "(ours) once each, few in an answer, and only what can be opened",
            "An answer is no wall of attachments, and a dead link helps nobody.",
            representation["fifty_calls_at_the_same_time_add_it_once"],
            representation["an_answer_is_no_wall_of_attachments"],
            representation["what_cannot_be_opened_is_not_added"],
        ),
    ),
}
