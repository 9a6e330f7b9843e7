"""G: servers, code and documents of a general-purpose agent, and what keeps callers apart."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

answers = Tests("capabilities/documents/test_answers.py")
extraction = Tests("capabilities/documents/test_extraction.py")
failure_texts = Tests("capabilities/mcp/test_failure_texts.py")
keys = Tests("dial/test_keys.py")
mcp = Tests("capabilities/mcp/test_capability.py")
program = Tests("capabilities/interpreter/server/test_tools.py")
reports = Tests("capabilities/mcp/test_execution_reports.py")
scans = Tests("capabilities/documents/test_scans.py")
structure = Tests("documents/test_structure.py")
vectors = Tests("capabilities/documents/test_vectors.py")
large = Tests("catalog/corpora/test_large_corpora.py")
hnsw = Tests("workspace/local/test_corpus_hnsw.py")

TABLE: Table = {
    "G-40": (
        rule(
            "servers that others wrote are called",
            mcp["a_server_that_others_wrote_is_called"],
            Tests("peers/test_everything.py")["texts_numbers_images_and_structures_come_back"],
        ),
        rule(
            "one that refuses is an issue",
            Tests("capabilities/mcp/test_misbehaviour.py")[
                "a_server_that_cannot_be_used_is_an_issue"
            ],
        ),
    ),
    "G-41": (
        rule(
            "a list of several pages is read to its end",
            Tests("capabilities/mcp/test_listings.py")["a_list_is_read_page_by_page_g_41"],
        ),
        rule(
            "the server's schemas are those of the functions",
            mcp["tools_are_told_with_their_names_and_resolved_schemas"],
        ),
        rule(
            "a changed list is seen in the next request",
            Tests("capabilities/mcp/test_pool.py")["a_changed_list_is_read_again"],
        ),
    ),
    "G-42": (
        rule(
            "every item of a result is kept",
            mcp["every_kind_of_content_is_kept"],
            mcp["structured_content_stands_in_for_missing_text"],
        ),
        rule(
            "a marked error is a failure of the tool",
            mcp["a_failing_tool_is_told_to_the_model_through_the_fallback"],
        ),
    ),
    "G-43": (
        rule(
            "a file is what the tool's list says",
            reports["the_list_of_files_says_what_they_are_not_the_resource"],
        ),
        rule(
            "resources are read",
            Tests("capabilities/mcp/test_resources.py")["a_resource_is_read"],
        ),
    ),
    "G-44": (
        rule(
            "the tools have their parameters and reports",
            program["the_three_tools_have_their_parameters"],
            program["a_report_says_all_there_is_to_know_of_an_execution"],
        ),
        rule(
            "sessions keep variables and end",
            program["an_empty_id_and_0_start_a_session"],
            program["variables_and_files_stay_in_their_session"],
            program["a_session_ends_half_an_hour_after_its_last_call"],
        ),
        rule(
            "what runs too long is interrupted",
            program["code_over_the_limit_is_interrupted_and_leaves_nothing"],
        ),
    ),
    "G-45": (
        rule(
            "a plot is attached, and the model told not to link it",
            reports["a_plot_is_attached_to_stage_and_answer_and_the_model_is_told_not_to_link_it"],
        ),
        rule(
            "names that lead elsewhere are refused",
            reports["names_of_files_that_lead_elsewhere_are_refused"],
        ),
    ),
    "G-46": (
        rule(
            "the server's tools are used under its own names with a prefix",
            failure_texts["the_search_toolset_works_with_a_program"],
            failure_texts["the_search_toolset_works_over_http"],
        ),
        rule(
            "what it found is not trusted",
            failure_texts["what_was_found_on_the_web_is_not_trusted"],
        ),
        rule(
            "a setting names its program, and without one nothing is missed",
            Tests("workspace/local/test_mcp_servers.py")[
                "a_setting_names_the_program_that_searches_the_web"
            ],
            mcp["an_optional_program_that_is_not_registered_is_left_out_without_a_word"],
        ),
    ),
    "G-50": (rule("either name can be chosen", extraction["the_other_names_do_the_same"]),),
    "G-51": (
        rule(
            "each format is read",
            structure["a_document_is_read_by_its_pages"],
            extraction["the_pages_of_a_pdf_are_joined_by_a_blank_line"],
        ),
        rule("what is no text says so", extraction["what_cannot_be_read_says_why"]),
        otherwise(
            "a scan has no text",
            "A model that sees reads its pages.",
            scans["the_pages_of_a_scan_are_read_one_by_one_and_cited"],
        ),
    ),
    "G-52": (
        rule(
            "a long text comes in pages",
            extraction["a_text_of_one_page_has_no_footer"],
            extraction["one_character_more_makes_two_pages_and_joined_they_are_the_text"],
        ),
    ),
    "G-53": (
        otherwise(
            "chunks of 500 characters are searched by vectors alone",
            "Chunks end where sections do and have at most 800; words are searched as well, so the "
            "first question needs no vectors.",
            answers["the_model_gets_the_three_best_chunks_with_their_neighbours_and_nothing_else"],
            vectors["meaning_finds_what_words_do_not"],
        ),
        rule(
            "without anything that fits, no model is asked",
            answers["where_nothing_fits_no_model_is_asked"],
        ),
        rule(
            "a corpus that is too large for a process is searched by the database",
            large["nothing_of_a_large_corpus_is_kept_in_the_process"],
            large["a_corpus_moves_over_when_it_grows_and_back_when_it_shrinks"],
            large["words_are_found_in_their_forms_and_in_scripts_without_spaces"],
        ),
        rule(
            "a corpus of one percent of the table gets all it asks for",
            hnsw["of_a_corpus_of_one_percent_enough_is_found_and_it_is_right"],
            hnsw["a_short_page_of_the_index_is_searched_exactly"],
        ),
        rule(
            "the answer streams into the stage",
            answers["the_answer_streams_into_the_stage_and_cites_file_page_and_sentence"],
        ),
    ),
    "G-54": (
        rule(
            "a second question neither loads nor embeds",
            answers["the_second_question_neither_loads_nor_embeds_again"],
        ),
        rule(
            "a document is forgotten after a day, or with its conversation",
            Tests("capabilities/documents/test_cache.py")["a_document_dies_after_a_day"],
            Tests("capabilities/documents/test_cache.py")["it_is_forgotten_with_its_conversation"],
        ),
        rule(
            "people do not share",
            answers["what_another_person_has_read_is_not_there_for_others"],
        ),
    ),
    "G-55": (
        rule(
            "the application is a deployment as any",
            Tests("catalog/content/test_built_in.py")[
                "every_tool_resolves_in_a_toolset_of_its_kind"
            ],
        ),
    ),
    "G-60": (
        rule(
            "the caller's key goes to Core alone",
            Tests("workspace/dial/test_models.py")["the_key_goes_to_core_alone"],
            Tests("workspace/dial/test_models.py")["nothing_is_kept_for_a_key_after_its_request"],
        ),
        rule(
            "other servers get what their toolset names",
            Tests("capabilities/mcp/test_connections.py")[
                "headers_of_the_caller_go_where_the_toolset_names_them_and_nowhere_else"
            ],
        ),
        rule(
            "of many at once, each gets their own",
            Tests("dial/test_load.py")["everybody_gets_their_own_and_nothing_is_left_over"],
        ),
    ),
    "G-61": (
        rule(
            "no secret is shown, exported or logged",
            Tests("site/test_secrets.py")["no_credential_is_seen_anywhere"],
            keys["the_key_is_in_no_answer_and_no_log_whatever_goes_wrong"],
        ),
        rule(
            "secrets rotate",
            Tests("capabilities/mcp/test_secrets.py")["a_rotated_secret_opens_another_session"],
        ),
        rule(
            "above its limit a key is told when to come again",
            Tests("gateway/test_limits.py")[
                "openais_client_waits_for_its_turn_and_core_is_told_of_a_failure"
            ],
        ),
    ),
    "G-62": (
        rule(
            "what processes remember at once is all kept",
            Tests("workspace/local/test_memories.py")[
                "two_processes_that_store_at_the_same_time_lose_nothing"
            ],
            Tests("workspace/dial/test_memories.py")["writers_of_two_processes_lose_nothing"],
        ),
        rule(
            "a conversation goes on in any process",
            Tests("chat/test_processes.py")[
                "another_process_goes_on_and_the_first_one_writes_nothing_more"
            ],
            Tests("runs/test_run.py")["the_next_request_shows_the_model_the_calls_of_the_last_one"],
        ),
    ),
}
