from __future__ import annotations

from apps.agent.events import Event, StageClosed, StageDelta, StageOpened
from apps.agent.loop import Timing
from apps.runs.timings import show_timings


def test_each_call_has_a_row_and_the_last_row_is_the_whole_run():
    events: list[Event] = []

    show_timings([Timing("gpt", 1.5), Timing("weather", 0.25, is_tool=True)], 1.7504, events.append)

    assert events == [
        StageOpened("execution-time", "Execution time"),
        StageDelta(
            "execution-time",
            "| Step | Seconds |\n"
            "| --- | ---: |\n"
            "| Model gpt | 1.500 |\n"
            "| Tool `weather` | 0.250 |\n"
            "| **Total** | **1.750** |\n",
        ),
        StageClosed("execution-time", 0.0),
    ]
