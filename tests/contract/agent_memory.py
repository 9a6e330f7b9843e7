"""G: what a general-purpose agent remembers of people."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

capability = Tests("capabilities/memory/test_capability.py")
core = Tests("workspace/dial/test_memories.py")
document = Tests("workspace/memories/test_document.py")
duplicates = Tests("workspace/memories/test_deduplication.py")
local = Tests("workspace/local/test_memories.py")
operations = Tests("workspace/memories/test_operations.py")
page = Tests("chat/test_memory_page.py")

TABLE: Table = {
    "G-20": (
        rule(
            "each caller has a file in their bucket",
            core["each_caller_has_a_file_of_their_own"],
        ),
        rule(
            "here, each caller and each of their users has rows",
            capability["callers_and_their_users_do_not_see_each_others_memories"],
        ),
    ),
    "G-21": (
        rule(
            "the file has the form",
            document["what_is_written_has_the_form_and_is_read_again"],
            document["a_new_file_was_never_searched_for_duplicates"],
        ),
        rule(
            "a file in that form is read",
            document["a_file_that_somebody_else_wrote_is_read_and_its_ids_are_made_different"],
        ),
    ),
    "G-22": (
        rule(
            "what is not fit is refused",
            capability["what_cannot_be_stored_is_refused_by_its_parameter"],
            operations["what_is_not_fit_is_refused_by_its_field"],
        ),
        rule("ids differ", operations["two_memories_of_one_second_have_two_ids"]),
    ),
    "G-23": (
        rule(
            "a fact alone is enough, and the reply names it",
            capability["a_fact_alone_is_enough_to_store_it"],
            capability["everything_that_is_said_of_a_fact_is_stored"],
        ),
    ),
    "G-24": (
        rule(
            "the most alike come first, with all that is known of them",
            operations["the_most_alike_come_first_and_no_more_than_asked_for"],
            capability["a_search_shows_each_memory_on_a_line_with_its_id_and_score"],
        ),
        rule("one to twenty are shown", capability["a_search_shows_one_to_twenty_memories"]),
        rule(
            "nothing is embedded for an empty store",
            capability["nothing_is_embedded_to_say_that_there_are_no_memories"],
        ),
        rule(
            "the source's names can be chosen",
            capability["older_prompts_can_keep_their_name_for_the_search"],
        ),
    ),
    "G-25": (
        rule(
            "all is deleted, and twice is no mistake",
            operations["all_is_deleted_with_what_was_merged_and_twice_is_no_mistake"],
            core["all_memories_are_deleted_with_their_file"],
        ),
        rule(
            "only after a question",
            Tests("demo/test_known_tools.py")["everything_is_forgotten_after_a_question"],
        ),
    ),
    "G-26": (
        rule("the search is exact", operations["scores_are_those_of_a_plain_reference"]),
        rule(
            "a query without words breaks nothing",
            operations["a_question_without_words_finds_something_and_breaks_nothing"],
        ),
    ),
    "G-27": (
        rule(
            "duplicates are looked for among more than ten, once a day",
            duplicates["duplicates_are_looked_for_among_more_than_ten_and_once_a_day"],
        ),
    ),
    "G-28": (
        rule(
            "those above the threshold are merged",
            duplicates["memories_are_merged_above_the_threshold_alone"],
            duplicates["the_more_important_one_keeps_the_words_and_topics_of_both"],
            duplicates["forty_texts_that_are_nearly_equal_become_one"],
        ),
        otherwise(
            "what was merged is gone",
            "Both facts stay findable, and a merge can be undone for 30 days: like texts may be "
            "different facts. Texts of unknown words are merged only if they are equal.",
            duplicates["a_merge_is_stored_with_its_originals_and_both_are_still_found"],
            duplicates["originals_can_be_brought_back_for_thirty_days"],
            duplicates["texts_of_unknown_words_are_merged_only_if_they_are_equal"],
        ),
    ),
    "G-29": (
        rule(
            "a second search reads nothing and sees what others wrote",
            operations["a_second_search_does_not_read_again_and_sees_what_others_wrote"],
            core["a_search_asks_whether_the_file_has_changed_and_does_not_read_it_again"],
        ),
        rule(
            "the cache has a bound",
            local["the_cache_keeps_what_was_used_last_within_its_bytes"],
        ),
    ),
    "G-30": (
        rule(
            "only a file that is not found is an empty one",
            core["only_a_file_that_is_not_found_is_an_empty_one"],
            core["a_file_that_cannot_be_read_is_no_empty_one_and_stays_as_it_is"],
        ),
    ),
    "G-31": (
        rule(
            "the rules are there with the tools, and only then",
            capability["the_tools_and_rules_are_there_where_memory_is_switched_on"],
            capability["nothing_is_there_where_it_is_not"],
        ),
        rule(
            "what to wear is searched in the memories, then on the web",
            Tests("demo/test_known_tools.py")[
                "what_to_wear_is_searched_in_the_memories_and_then_on_the_web_g_31"
            ],
        ),
        rule(
            "what is remembered gives no orders",
            capability["the_model_searches_and_is_shown_what_it_finds_as_data"],
        ),
    ),
    "G-32": (
        rule(
            "old memories are given up",
            duplicates["old_unimportant_and_surplus_memories_are_given_up"],
        ),
        rule(
            "a memory is changed",
            operations["a_memory_is_changed_and_found_by_its_new_words"],
            page["a_memory_is_changed"],
        ),
        rule(
            "an export is imported once",
            operations["an_export_is_imported_once_however_often_it_is_given"],
            page["an_export_can_be_imported_again_and_again"],
        ),
        rule(
            "categories can be limited",
            capability["only_the_categories_of_the_application_are_taken"],
        ),
        rule(
            "another model embeds everything once",
            operations["another_model_embeds_everything_once"],
        ),
        otherwise(
            "caches are shared, an index is searched, importance decays",
            "An exact search of 10,000 takes 0.1 ms, so nothing of it is shared or indexed; what is "
            "old goes by `prune`, and importance stays what the model said.",
            duplicates["what_is_given_up_leaves_the_store"],
        ),
    ),
    "G-33": (
        otherwise(
            "times are goals",
            "`benchmarks.memories` measures them; a test would fail on a busy machine. What a "
            "collection needs is bounded.",
            core["there_is_room_for_a_thousand"],
            local["vectors_take_four_bytes_for_each_number"],
        ),
    ),
    "G-34": (
        rule(
            "a memory service is asked by hooks with the caller's key",
            Tests("capabilities/hooks/test_memory_service.py")[
                "a_run_begins_with_the_memories_of_its_caller_and_tells_them_again_when_they_change"
            ],
        ),
        rule(
            "our own memories can be known from the start",
            capability["the_most_important_memories_are_known_from_the_start"],
        ),
    ),
}
