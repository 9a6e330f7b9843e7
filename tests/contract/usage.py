"""T-60 to T-62 and R-28: what calls cost and how long they took."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, rule

figures = Tests("insights/test_figures.py")
histograms = Tests("insights/test_histograms.py")
latency = Tests("insights/test_latency.py")
metrics = Tests("insights/test_call_metrics.py")
page = Tests("console/test_latency.py")
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
        rule(
            "without the setting there is no such page",
            page["without_the_setting_there_is_no_such_address"],
        ),
        rule(
            "fixed rows give fixed numbers, by model and by tool, here and at clients",
            latency["fixed_rows_give_fixed_numbers_t_61"],
            figures["fixed_rows_give_fixed_numbers"],
        ),
        rule(
            "the hit rate is the mean of cached to prompt",
            latency["fixed_rows_give_fixed_numbers_t_61"],
            figures["the_cache_hit_rate_is_the_mean_of_the_calls_that_report_it"],
        ),
        rule(
            "a row that is 61 minutes old is out",
            latency["a_row_that_is_61_minutes_old_is_out_t_61"],
        ),
        rule(
            "other scopes are out",
            latency["the_calls_of_others_are_out_t_61"],
            page["other_people_see_their_own_unless_they_may_see_usage"],
            page["nobody_sees_anything_without_signing_in"],
        ),
        rule(
            "it is stored nowhere, as a page and as JSON",
            page["an_operator_sees_the_calls_of_all"],
            page["the_page_says_the_same"],
        ),
        rule("longer periods have figures too", figures["tools_have_figures_of_their_own"]),
        rule(
            "sums of hours and days tell what their rows do",
            figures["what_is_summed_up_has_the_same_figures_as_its_rows"],
        ),
        rule(
            "their percentiles come from histograms",
            histograms["a_percentile_of_a_histogram_is_off_by_five_percent_at_most"],
        ),
    ),
    "T-62": (
        rule(
            "Prometheus gets histograms of turns, first texts and cached ratios",
            metrics["calls_of_models_have_the_labels_provider_and_model_and_no_person"],
        ),
        rule(
            "OpenTelemetry gets the same",
            Tests("test_metrics.py")["opentelemetry_is_told_the_same"],
            Tests("site/test_tracing.py")["a_request_leaves_spans_that_core_can_join"],
        ),
        rule(
            "labels are of few values, and nobody's",
            metrics["a_name_of_a_model_that_never_answered_makes_no_series"],
            metrics["models_beyond_the_most_are_counted_together"],
            metrics["calls_of_tools_have_no_names_which_anybody_may_choose"],
        ),
        rule(
            "they are for a token or for this machine",
            Tests("gateway/test_metrics.py")["others_need_the_token"],
            Tests("gateway/test_metrics.py")["programs_on_this_machine_need_no_token"],
            Tests("gateway/test_metrics.py")["without_the_setting_there_is_no_such_address"],
        ),
    ),
    "R-28": (
        rule(
            "an application outside reports the usage of its models",
            rows["an_application_outside_that_reports_several_models_has_a_row_for_each"],
        ),
        rule(
            "DIAL is told the usage of each model, of tools that call models as well",
            Tests("dial/test_applications.py")[
                "files_and_state_of_an_application_below_go_on_to_its_siblings"
            ],
            Tests("dial/test_requests.py")["what_was_spent_is_told_whole_and_by_model"],
            Tests("gateway/test_wire.py")[
                "the_last_chunk_has_the_finish_reason_the_usage_and_the_statistics"
            ],
        ),
        rule(
            "people are told of an answer what it took, those inside included once",
            Tests("chat/test_figures.py")["the_cost_of_an_answer_is_that_of_its_rows"],
            Tests("insights/test_answer_figures.py")[
                "the_costs_of_an_application_inside_are_included_once"
            ],
        ),
    ),
}
