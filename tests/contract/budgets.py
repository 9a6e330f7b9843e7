"""Budgets: what is reserved, refused and told."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, rule

admin = Tests("console/admin/test_budgets.py")
api = Tests("console/api/test_budgets.py")
chat = Tests("chat/test_budgets.py")
gateway = Tests("gateway/test_budgets.py")
process = Tests("insights/budgets/test_process.py")
storm = Tests("insights/budgets/test_storm.py")
windows = Tests("insights/budgets/test_windows.py")

TABLE: Table = {
    "budgets": (
        rule(
            "reserved before each call, settled after it",
            process["a_call_is_reserved_before_it_is_made_and_settled_after_it"],
            process["vectors_are_reserved_and_counted_too"],
        ),
        rule(
            "the estimate is the input and the mean output, 256 tokens at first",
            process["the_output_is_estimated_by_the_mean_of_the_last_calls"],
        ),
        rule(
            "refused once spent and reserved reach the limit, in all budgets or none",
            process["what_is_reserved_counts"],
            process["of_several_budgets_all_or_none_is_reserved"],
        ),
        rule(
            "a storm of two processes overspends by at most one call for each run in flight",
            storm["a_storm_overspends_by_at_most_one_call_for_each_run_that_is_going"],
        ),
        rule(
            "what a dead process reserved is released",
            process["what_a_dead_process_held_back_lapses"],
            storm["what_a_killed_process_has_reserved_is_released"],
        ),
        rule(
            "a run's own cap ends a looping agent and keeps what was answered",
            process["a_run_ends_when_its_own_budget_does_and_keeps_what_was_answered"],
        ),
        rule(
            "runs inside of others count once for the caller and in each application",
            process["an_application_inside_of_another_counts_in_each_and_once_for_the_person"],
        ),
        rule(
            "the soft line and the end are told in the same words, with the renewal",
            process["a_conversation_is_told_of_the_soft_line_once_in_a_window"],
            chat["a_question_is_refused_at_once_and_nothing_of_it_is_stored"],
            chat["the_soft_line_is_told_once_in_a_conversation"],
        ),
        rule(
            "our keys get 429 with Retry-After and insufficient_quota",
            gateway["a_spent_budget_is_429_with_the_time_of_its_renewal"],
            gateway["openais_client_reads_a_spent_quota_and_when_it_renews"],
        ),
        rule(
            "Core's callers get 403, or the error in the stream",
            gateway["core_is_told_of_a_refusal_that_it_does_not_take_for_a_failure"],
            gateway["in_the_middle_of_a_stream_the_error_comes_as_its_last_event"],
        ),
        rule(
            "money without a price counts nothing, and operators are told",
            process["a_call_without_a_price_counts_nothing_and_operators_are_told"],
            admin["calls_without_a_price_are_told"],
        ),
        rule(
            "windows begin by the time zone of the budget",
            windows["days_and_months_begin_in_the_time_zone"],
            windows["every_moment_is_in_its_window_and_the_next_one_follows"],
        ),
        rule(
            "operators see bars and renewals, and a log of overrides",
            admin["the_list_shows_how_much_is_used"],
            admin["a_window_is_raised_once_with_a_note_that_stays"],
            admin["of_two_operators_the_second_hears_of_the_first"],
        ),
        rule(
            "/api/budgets/ reads, makes, changes and deletes them",
            api["a_budget_is_made_read_changed_and_deleted"],
            api["it_tells_what_is_spent_and_reserved_and_when_it_renews"],
        ),
    ),
}
