"""T: where conversations are kept."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, rule

mirror = Tests("chat/test_mirror.py")

TABLE: Table = {
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
