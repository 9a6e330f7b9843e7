"""§11 attachments to the orchestrator, §12 time awareness."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

contents = Tests("capabilities/attachments/test_contents.py")
doors = Tests("capabilities/attachments/test_doors.py")
promotion = Tests("capabilities/attachments/test_promotion.py")
view = Tests("capabilities/attachments/test_view.py")
contexts = Tests("capabilities/contexts/test_capability.py")
clock = Tests("capabilities/clock/test_capability.py")
timestamps = Tests("capabilities/clock/test_timestamps.py")

TABLE: Table = {
    "11": (
        rule("the block: its tags, indents and escapes", view["the_block_is_what_the_model_reads"]),
        rule(
            "it is told of users' and tools' attachments, never of the assistant's",
            view["users_and_tools_attachments_are_told_and_those_of_the_model_are_not"],
        ),
        rule(
            "it is made before each call and not kept",
            view["nothing_that_is_kept_is_changed_by_what_the_model_sees"],
            view["a_conversation_without_attachments_is_the_very_same"],
        ),
        rule(
            "content that came in parts gets the block as a part",
            view["content_that_came_in_parts_gets_the_block_as_a_part"],
        ),
        rule(
            "pictures of users stay attached, other attachments do not",
            view["a_service_that_knows_no_attachments_gets_pictures_as_parts"],
            doors["a_picture_reaches_the_model_as_a_picture"],
            doors["a_document_is_told_in_words"],
        ),
        otherwise(
            "a picture is inlined whatever the deployment takes",
            "One that says what it takes is given no other types; what cannot be loaded is told.",
            view["a_deployment_that_says_what_it_takes_is_given_no_other_pictures"],
            view["a_picture_that_cannot_be_loaded_is_told_and_the_turn_goes_on"],
            view["the_newest_pictures_are_shown_where_there_is_no_room_for_all"],
        ),
        rule(
            "lazy_on_demand adds the tool where the deployment takes something that is there",
            contents["the_tool_is_there_where_something_can_be_asked_for"],
            contents["a_deployment_that_does_not_say_what_it_takes_offers_nothing"],
            contents["a_picture_that_cannot_be_asked_for_is_shown_at_once"],
        ),
        rule(
            "attachments of the last question are there as if they had been asked for",
            contents["what_came_with_the_newest_question_is_there_as_if_it_was_asked_for"],
        ),
        rule(
            "only what is attached or a context can be asked for; context_url is read as well",
            contents["other_urls_are_refused"],
            contents["files_of_the_operator_can_be_asked_for"],
        ),
        rule(
            "contents are dropped from the history of an answer that is complete",
            contents["the_model_asks_for_a_content_and_nothing_of_it_is_left_behind"],
            contents["an_answer_that_waits_for_the_clients_tools_keeps_what_was_read"],
        ),
        rule(
            "what the model rejects becomes an error text, and it is asked once more",
            contents["a_content_that_the_model_refuses_is_taken_back_and_it_is_asked_once_more"],
            contents["other_failures_stay_what_they_are"],
            doors["a_document_that_the_model_refuses_is_taken_back_once"],
            doors["a_second_refusal_is_told"],
        ),
        rule(
            "addresses that users attach become files, through the egress policy",
            promotion["a_picture_of_the_internet_is_kept_and_shown"],
            promotion["the_policy_of_the_installation_is_told"],
            promotion["only_what_the_user_attached_is_fetched"],
            promotion["the_next_request_finds_the_file_and_fetches_nothing"],
        ),
    ),
    "11.1": (
        rule(
            "there if there is a file or folder context, or the tool is in the history",
            contexts["an_application_without_files_brings_nothing"],
            contexts["that_everything_is_gone_is_told_once_and_the_tool_stays"],
        ),
        rule(
            "entries with title, url, type, description and status; duplicates once",
            contexts["the_first_question_is_followed_by_all_files"],
            contexts["of_a_file_that_is_named_twice_the_one_with_a_description_counts"],
        ),
        rule(
            "nothing is said where nothing changed; a removal is said once",
            contexts["what_has_not_changed_is_not_said_again"],
            contexts["what_changes_is_told_once"],
            contexts["what_comes_back_is_new_again_under_another_id"],
        ),
        rule(
            "the newest list that can be read counts",
            contexts["a_listing_that_cannot_be_read_counts_as_none"],
        ),
        rule("the model may ask for it", contexts["the_model_may_ask_for_the_list"]),
        rule(
            "folders are listed in each request, to their depth",
            contexts["a_folder_is_listed_anew_for_each_request"],
            contexts["folders_below_the_depth_are_named_and_not_opened"],
            contexts["a_folder_that_cannot_be_listed_is_told_and_nothing_of_it_is_gone"],
        ),
        otherwise(
            "(ours) of very many files the rest is counted",
            "A list without end would leave the model no room for the question.",
            contexts["of_too_many_files_the_rest_is_counted"],
        ),
        rule(
            "user-defined contexts stand in the prompt",
            Tests("runs/test_prompt.py")["inline_contexts_are_part_of_the_prompt"],
        ),
    ),
    "12": (
        rule(
            "the tool tells the time in a zone; an unknown one is a parameter error",
            clock["the_time_is_told_in_the_zone_that_was_asked_for"],
            clock["an_unknown_zone_is_refused_with_near_ones"],
        ),
        rule(
            "on by default, off with null",
            clock["the_tool_is_there_unless_the_manifest_switches_it_off"],
            timestamps["an_application_can_do_without_the_time"],
        ),
        rule(
            "each turn has a pair of its own, and earlier ones keep theirs",
            timestamps["every_question_comes_with_the_time_at_the_end"],
            timestamps["the_time_of_earlier_questions_stays_as_it_was"],
        ),
        rule(
            "a result keeps when it came, beside its own state",
            timestamps["a_result_keeps_its_own_time_and_its_own_state"],
        ),
        rule(
            "the zone of the user, where it is known",
            timestamps["a_user_whose_zone_is_known_is_told_the_time_there"],
        ),
        rule(
            "results end in the time for the model alone; the pair itself does not",
            timestamps["the_model_reads_the_time_below_a_result_and_nothing_of_it_is_kept"],
            timestamps["what_has_no_time_of_its_own_is_seen_as_it_is"],
        ),
    ),
}
