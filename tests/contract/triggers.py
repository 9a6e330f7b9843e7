"""What begins by itself, and who is told of it."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, rule

webhooks = Tests("triggers/test_webhooks.py")
unattended = Tests("triggers/test_unattended.py")
processes = Tests("triggers/test_processes.py")
deliveries = Tests("triggers/test_deliveries.py")
mail = Tests("triggers/test_mail.py")
admin = Tests("triggers/test_admin.py")
api = Tests("triggers/test_api.py")
browser = Tests("browser/test_notices.py")

TABLE: Table = {
    "webhooks": (
        rule(
            "a webhook asks in the name of its account; what it was sent is marked and not trusted",
            webhooks["what_a_program_sends_is_asked_by_the_account_and_marked_and_not_trusted"],
            webhooks["an_account_without_the_right_is_like_no_address_and_the_operator_is_told"],
        ),
        rule(
            "each mistake has its status, in one shape",
            webhooks["each_mistake_has_its_status_and_one_shape"],
            webhooks["a_key_admits_in_either_header_and_nothing_else_does"],
            webhooks["too_many_requests_are_told_when_to_come_back"],
        ),
        rule(
            "a message id is one run, however many processes hear of it",
            webhooks["a_message_id_is_asked_once_also_by_another_process"],
            processes["two_processes_ask_a_message_once_and_after_a_kill_another_one_tells_of_it"],
        ),
        rule(
            "nothing approves by itself: it waits, or is denied after the time of the row",
            unattended[
                "what_a_webhook_sent_makes_changes_wait_and_without_an_answer_they_are_denied"
            ],
            unattended["without_minutes_it_waits_without_an_end"],
        ),
        rule(
            "secrets are shown once, and rows of others are hidden",
            admin["a_webhook_is_made_and_its_secret_shown_once_and_never_recorded"],
            admin["operators_see_and_edit_webhooks_of_applications_that_they_edit"],
            api["operators_reach_rows_of_applications_that_they_edit"],
        ),
    ),
    "subscriptions": (
        rule(
            "events are signed, and have ids and states unless the row says more",
            deliveries["an_answer_is_told_with_ids_and_states_alone_and_signed"],
            deliveries["the_text_is_told_where_the_subscription_says_so"],
            deliveries["only_runs_of_applications_that_the_owner_edits_are_told"],
        ),
        rule(
            "an event is sent at least once with one id, or given up and listed",
            deliveries["a_receiver_that_is_away_is_asked_again_with_the_same_id_until_it_answers"],
            deliveries["after_the_last_attempt_it_is_given_up_and_sent_again_by_hand"],
            deliveries["an_attempt_whose_process_is_killed_is_made_by_another_with_the_same_id"],
        ),
        rule(
            "private addresses are refused, and 410 disables",
            deliveries["a_private_address_is_refused_and_the_operator_reads_why"],
            deliveries["a_receiver_that_is_gone_for_good_disables_its_subscription"],
        ),
        rule(
            "without subscriptions an ending costs nothing",
            deliveries["without_subscriptions_an_ending_asks_the_database_nothing_more"],
        ),
    ),
    "notices": (
        rule(
            "the tab counts what is not seen, and notifies when it is hidden, outside of quiet hours",
            browser[
                "the_tab_counts_what_is_not_seen_and_a_hidden_one_notifies_outside_of_quiet_hours"
            ],
        ),
        rule(
            "mail has a link and no contents, for those who want it and were not there",
            mail["who_was_not_there_gets_a_link_and_nothing_of_the_conversation"],
            mail["who_did_not_ask_for_it_gets_none"],
            mail["who_has_looked_by_then_gets_none"],
        ),
        rule(
            "quiet hours may cross midnight",
            mail["quiet_hours_may_cross_midnight_and_go_by_the_clocks_of_the_person"],
            mail["in_quiet_hours_it_waits_until_they_are_over"],
        ),
    ),
}
