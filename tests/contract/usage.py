"""T-60, T-61 and R-28: what calls cost and how long they took."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

figures = Tests("insights/test_figures.py")
histograms = Tests("insights/test_histograms.py")
page = Tests("console/admin/test_usage.py")
rows = Tests("insights/test_rows.py")

TABLE: Table = {
    "T-60": (
        rule(
            "each turn of a run leaves a row", rows["a_run_of_three_turns_leaves_three_rows_t_60"]
        ),
        rule("so does each attempt", rows["each_attempt_has_its_row"]),
        rule(
            "a failing sink fails no run",
            rows["rows_that_the_database_refuses_fail_no_run_and_are_told_once"],
        ),
        rule("no row has a word of a prompt", rows["no_row_has_a_word_of_what_was_said_t_60"]),
        rule(
            "a tool's row says where it ran",
            Tests("insights/test_meters.py")["a_tool_of_the_client_is_reported_without_a_time"],
            Tests("insights/test_meters.py")[
                "a_tool_of_the_page_is_reported_once_when_the_page_has_answered"
            ],
        ),
    ),
    "T-61": (
        rule("fixed rows give fixed numbers", figures["fixed_rows_give_fixed_numbers"]),
        rule(
            "the hit rate is the mean of cached to prompt",
            figures["the_cache_hit_rate_is_the_mean_of_the_calls_that_report_it"],
        ),
        rule("tools have counts and percentiles", figures["tools_have_figures_of_their_own"]),
        rule(
            "sums of hours and days tell what their rows do",
            figures["what_is_summed_up_has_the_same_figures_as_its_rows"],
        ),
        otherwise(
            "a page of the last hour, for developers",
            "Operators see 24 hours to 90 days in the admin; long periods are read from histograms.",
            page["only_who_may_see_it_sees_it"],
            histograms["a_percentile_of_a_histogram_is_off_by_five_percent_at_most"],
        ),
    ),
    "R-28": (
        rule(
            "an application outside reports the usage of its models",
            rows["an_application_outside_that_reports_several_models_has_a_row_for_each"],
        ),
    ),
}
