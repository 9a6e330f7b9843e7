"""T: where conversations are kept."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

conversations = Tests("chat/test_conversations.py")
mirror = Tests("chat/test_mirror.py")

tasks = Tests("chat/test_tasks.py")

TABLE: Table = {
    "T-41": (
        rule(
            "list, get, delete, submit, and the status of a task",
            conversations["a_program_pages_through_its_conversations_and_through_no_others"],
            conversations["a_conversation_is_read_with_its_messages_and_without_summaries"],
            tasks["a_message_has_a_task_at_once_whose_status_follows_its_answer"],
        ),
        rule(
            "deletes are audited",
            conversations["a_deleted_conversation_is_gone_and_the_audit_says_so"],
        ),
        rule(
            "those of others look as if there were none",
            conversations["those_of_others_look_as_if_there_were_none"],
        ),
        otherwise(
            "a provider for each conversation",
            "The manifest names the model of an application, and whom it falls back to; a "
            "conversation has that of its application.",
            conversations["a_conversation_is_read_with_its_messages_and_without_summaries"],
        ),
    ),
    "T-40": (
        rule(
            "a file for each conversation, under its scope, with its messages in order",
            mirror["a_turn_is_in_the_file_once_its_answer_is_stored"],
            mirror["files_follow_a_new_title_and_whoever_signs_in_and_go_with_the_conversation"],
        ),
        rule(
            "mirror, wipe, restore: the same",
            mirror["what_was_wiped_is_restored_as_it_was"],
            mirror["a_conversation_whose_application_is_gone_can_be_read_again"],
            mirror["a_file_that_makes_no_sense_is_named_and_the_others_are_restored"],
        ),
    ),
}
