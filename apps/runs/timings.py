"""The stage that tells where the time of an answer went."""

from __future__ import annotations

from collections.abc import Sequence

from apps.agent.events import Emit, StageClosed, StageDelta, StageOpened
from apps.agent.loop import Timing

STAGE_ID = "execution-time"


def show_timings(timings: Sequence[Timing], seconds: float, emit: Emit) -> None:
    """`seconds` is the time of the whole run; tools work at the same time, so they add up to more."""
    emit(StageOpened(STAGE_ID, "Execution time"))
    emit(StageDelta(STAGE_ID, table(timings, seconds)))
    emit(StageClosed(STAGE_ID, 0.0))


def table(timings: Sequence[Timing], seconds: float) -> str:
    rows = [("Step", "Seconds"), ("---", "---:")]
    rows += [(label(timing), f"{timing.seconds:.3f}") for timing in timings]
    rows += [("**Total**", f"**{seconds:.3f}**")]
    return "".join(f"| {left} | {right} |\n" for left, right in rows)


def label(timing: Timing) -> str:
    return f"Tool `{timing.name}`" if timing.is_tool else f"Model {timing.name}"
