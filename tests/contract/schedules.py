"""D-41, D-42, R-20: agents that act by themselves at a time."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, rule

browser = Tests("browser/test_schedules.py")
capability = Tests("capabilities/schedules/test_capability.py")
chat = Tests("triggers/test_alarms.py")
dial = Tests("gateway/test_dial.py")
firing = Tests("triggers/test_due_schedules.py")
occurrences = Tests("schedules/test_occurrences.py")
processes = Tests("triggers/test_processes.py")
storm = Tests("triggers/test_storm.py")

TABLE: Table = {
    "D-41": (
        rule(
            "an alarm ends the turn; a conversation has one",
            capability["an_alarm_ends_the_turn_and_takes_the_place_of_an_earlier_one"],
        ),
        rule(
            "it wakes the conversation later with a marked message, once",
            chat["an_alarm_wakes_its_conversation_once_with_a_marked_message"],
            browser["an_alarm_is_set_in_the_chat_and_answered_while_nobody_looks"],
            firing["an_alarm_and_what_is_deleted_after_its_end_are_gone_then"],
        ),
        rule(
            "a time that has passed fires at once",
            capability["an_alarm_for_a_time_that_has_passed_is_due_at_once"],
        ),
        rule(
            "it repeats, at least a minute later",
            occurrences["a_moment_comes_once_and_with_an_interval_again"],
            capability["an_alarm_is_not_repeated_more_often_than_each_minute"],
        ),
        rule(
            "it goes with its conversation",
            chat["an_alarm_goes_with_its_conversation"],
        ),
    ),
    "D-42": (
        rule(
            "a task is scheduled, listed, changed and removed",
            capability["a_task_is_scheduled_listed_changed_and_removed"],
            capability["what_cannot_be_scheduled_is_refused_by_the_name_of_the_argument"],
        ),
        rule(
            "the next times are right where clocks are put forward and back",
            occurrences[
                "a_time_that_a_night_lacks_comes_at_its_end_and_one_that_it_has_twice_comes_once"
            ],
            occurrences["times_outside_of_the_active_hours_are_left_out_also_across_midnight"],
        ),
        rule(
            "of two processes one fires",
            storm["two_clocks_ask_each_message_once"],
            processes["what_was_set_before_a_kill_is_asked_once_by_the_processes_that_come_after"],
        ),
        rule(
            "a conversation has one heartbeat, which is changed and switched off",
            capability["a_heartbeat_wakes_the_conversation_in_intervals_until_it_is_switched_off"],
        ),
    ),
    "R-20": (
        rule(
            "nothing is offered where there is no account to act for: visitors, the gateway, helpers",
            capability["tools_are_offered_only_where_somebody_can_schedule"],
            chat["visitors_and_keys_of_the_installation_have_no_schedules"],
            chat["visitors_are_offered_no_schedules"],
            dial["r_20_alarms_and_schedules_are_not_offered_where_the_key_dies_with_the_request"],
        ),
    ),
}
