"""§13 strategies, time-outs, and trying again."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

fallbacks = Tests("capabilities/wrappers/test_fallbacks.py")
results = Tests("capabilities/wrappers/test_results.py")
retries = Tests("capabilities/wrappers/test_retries.py")
tools = Tests("manifest/test_tools.py")

TABLE: Table = {
    "13.1": (
        rule(
            "the default is one continue; errors are displayed",
            tools["what_a_tool_does_not_say_is_filled_in"],
        ),
        rule(
            "stop and retry are old names, and warned of",
            fallbacks["what_should_be_written_otherwise_is_warned_of_once"],
            Tests("manifest/test_warnings.py")["old_spellings_are_told_with_the_new_ones"],
        ),
        rule(
            "triggers contain or equal, without regard to case unless told",
            fallbacks["the_first_strategy_that_applies_tells_the_model"],
            tools["what_is_no_tool_is_told_with_its_place"],
        ),
    ),
    "13.2": (
        rule(
            "the first strategy that applies wins; the model gets the error and instructions",
            fallbacks["the_first_strategy_that_applies_tells_the_model"],
        ),
        rule(
            "instructions without a trigger are not used, with a warning",
            fallbacks["the_first_strategy_that_applies_tells_the_model"],
            fallbacks["what_should_be_written_otherwise_is_warned_of_once"],
        ),
        otherwise(
            "without a trigger the error stands alone",
            "A continue adds that there are other ways, a retry the instructions that the schema "
            "has for it by default: else models give up, or repeat the call.",
            fallbacks["the_first_strategy_that_applies_tells_the_model"],
        ),
        rule(
            "a customised catch-all leaves a line of INFO (§2.1)",
            fallbacks["a_customised_catch_all_leaves_a_line_in_the_log"],
        ),
        rule(
            "a hard stop ends the run in a fixed sentence",
            fallbacks["a_run_ends_where_a_strategy_says_so"],
        ),
        rule(
            "where nothing applies the run ends in the words of the failure",
            fallbacks["where_no_strategy_applies_the_run_ends_in_the_words_of_the_failure"],
        ),
        otherwise(
            "continue gives the model str(exception)",
            "Of what nobody foresaw it gets one sentence: the text may hold secrets.",
            fallbacks["an_unexpected_failure_is_not_told"],
        ),
        otherwise(
            "(ours) a strategy may have the tool called again",
            "`retry` on a continue: attempts, full jitter, Retry-After as a floor, one time limit "
            "for all, only what may be repeated, never after a part of the answer was shown.",
            retries["a_failing_call_is_made_again_after_a_pause_and_its_stage_counts"],
            retries["the_first_strategy_that_applies_decides"],
            retries["what_may_not_be_done_twice_is_called_again_only_if_the_manifest_says_so"],
            retries["no_attempt_is_waited_for_that_would_begin_too_late"],
            retries["attempts_and_pauses_have_limits"],
            Tests("agent/test_backoff.py")["the_range_of_the_pause_doubles_up_to_its_limit"],
            Tests("agent/test_backoff.py")["a_pause_is_at_least_what_the_service_asks_for_d_33"],
            Tests("workspace/egress/test_headers.py")[
                "seconds_or_a_date_are_read_and_nothing_else"
            ],
        ),
    ),
    "13.3": (
        rule(
            "tool_defaults, else the installation's; above 0, at most an hour",
            tools["tools_have_up_to_an_hour"],
            Tests("capabilities/rest/test_answers.py")["a_service_that_never_answers_is_given_up"],
            Tests("capabilities/deployment/test_calls.py")[
                "the_manifest_says_which_headers_go_along_and_how_long_silence_may_last"
            ],
        ),
        rule(
            "a deployment is given up when it is silent for so long",
            Tests("capabilities/deployment/test_services.py")[
                "a_service_that_falls_silent_is_given_up"
            ],
        ),
        rule(
            "the interpreter's own time-out wins",
            Tests("capabilities/interpreter/test_dial.py")[
                "a_slow_answer_is_a_time_out_of_the_tool"
            ],
            Tests("capabilities/interpreter/test_capability.py")[
                "the_time_of_the_application_stops_a_call"
            ],
        ),
        rule(
            "every kind of time-out is told in the same words, also inside a group",
            results["every_time_out_of_a_tool_is_told_alike"],
            results["a_tool_that_never_ends_is_stopped"],
            results["other_failures_pass_the_time_out"],
        ),
        rule(
            "only a strategy whose trigger names it applies; else it goes to the model",
            fallbacks["a_time_out_passes_by_strategies_without_a_trigger"],
            fallbacks["a_time_out_ends_the_run_where_a_trigger_names_it"],
        ),
        rule(
            "the stage always tells it",
            fallbacks["the_stage_shows_the_error_unless_the_manifest_hides_it"],
        ),
    ),
}
