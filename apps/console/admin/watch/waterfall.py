"""Builds the waterfall chart of a run: its model calls, tool calls, nested runs and waits over
time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Literal

from django.utils import timezone

from apps.agent.tool_titles import tool_title
from apps.console.admin.callers import application_titles, deployment_titles
from apps.console.admin.cells import NOTHING, money
from apps.console.admin.watch.error_kinds import error_words
from apps.insights.models import ModelCall, ToolUse
from apps.insights.sums import NO_ERROR
from apps.live.models import Interaction, RunStep
from apps.live.run_summary import RunSummary

MOST_SPANS = 500
NARROWEST = 0.5
"""The minimum width of a bar, as a percentage of the axis. It makes even a one-millisecond call
visible.
"""
MARKS = 4
"""The number of intervals on the time axis of the waterfall."""
LONGEST_IN_SECONDS = 120
"""Durations from this many seconds on are shown in minutes."""

SpanKind = Literal["model", "tool", "run", "wait"]
KIND_NAMES: dict[SpanKind, str] = {
    "model": "Model",
    "tool": "Tool",
    "run": "Nested run",
    "wait": "Wait",
}


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A model call, tool call, nested run or wait in a run."""

    kind: SpanKind
    name: str
    began: datetime
    seconds: float | None
    """The duration, or None if it is unknown."""
    detail: str = ""
    has_failed: bool = False
    is_inside: bool = False
    """True for a call in a nested run."""
    hint: str = ""
    """The name of the deployment or tool, if it differs from the title in `name`."""

    @property
    def identifier(self) -> str:
        """The name of the deployment or tool, or else the title."""
        return self.hint or self.name

    @property
    def end(self) -> datetime:
        return self.began + timedelta(seconds=self.seconds or 0)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the waterfall. `x` and `width` are percentages of the time axis."""

    span: TimeSpan
    kind: str
    began: str
    took: str
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class Waterfall:
    rows: Sequence[Row]
    marks: Sequence[str]
    left_out: int


def waterfall_of(run: RunSummary) -> Waterfall:
    """Return the waterfall of a run, with at most `MOST_SPANS` rows."""
    calls: list[ModelCall | ToolUse] = [
        *ModelCall.objects.filter(run=run.pk).order_by("started_at", "pk")[:MOST_SPANS],
        *ToolUse.objects.filter(run=run.pk).order_by("started_at", "pk")[:MOST_SPANS],
    ]
    inside = [call for call in calls if call.application != run.application]
    titles = deployment_titles(call.deployment for call in calls if isinstance(call, ModelCall))
    spans = [
        span_of(call, is_inside=call.application != run.application, titles=titles)
        for call in calls
    ]
    spans = sorted([*spans, *runs_inside(inside), *waits_of(run)], key=sort_key)
    shown = spans[:MOST_SPANS]
    begin = min([run.started_at, *(one.began for one in shown)])
    end = max([run.started_at + timedelta(seconds=run.seconds or 0), *(one.end for one in shown)])
    length = max((end - begin).total_seconds(), 0.001)
    return Waterfall(
        [row_of(span, begin, length) for span in shown],
        axis_marks(length),
        len(spans) - len(shown),
    )


def sort_key(span: TimeSpan) -> tuple[datetime, bool]:
    """Return the sort key of a span. A nested run comes before its first call."""
    return span.began, span.kind != "run"


def span_of(
    call: ModelCall | ToolUse,
    *,
    is_inside: bool,
    titles: Mapping[str, str] = MappingProxyType({}),
) -> TimeSpan:
    """Return the span of a call. `titles` contains the titles of deployments by name."""
    if isinstance(call, ToolUse):
        title = tool_title(call.tool)
        return TimeSpan(
            "tool",
            title,
            call.started_at,
            call.seconds,
            "on the client" if call.location == "client" else "",
            call.has_failed,
            is_inside,
            call.tool if call.tool != title else "",
        )
    title = titles.get(call.deployment, call.deployment)
    return TimeSpan(
        "model",
        title,
        call.started_at,
        call.seconds,
        "; ".join(details_of(call)),
        call.error not in NO_ERROR,
        is_inside,
        call.deployment if call.deployment != title else "",
    )


def details_of(call: ModelCall) -> Iterator[str]:
    if call.purpose:
        yield f"for a {call.purpose}"
    if call.error:
        words = error_words(call.error)
        yield f"{words}: {call.said}" if call.said else words
    if call.input_tokens is not None:
        cached = f" ({call.cached_tokens:,} cached)" if call.cached_tokens else ""
        yield (
            f"{call.input_tokens:,} input tokens{cached}, {call.output_tokens or 0:,} output tokens"
        )
    if call.first_text_seconds is not None:
        yield f"first token after {duration(call.first_text_seconds)}"
    if call.cost is not None:
        yield money({call.currency: call.cost})


def runs_inside(calls: Sequence[ModelCall | ToolUse]) -> Iterator[TimeSpan]:
    """Yield one span per nested application, from its first to its last call. Several runs of an
    application share a span, because call records do not distinguish these runs.
    """
    by_application = attrgetter("application")
    titles = application_titles(call.application for call in calls)
    for application, group in groupby(sorted(calls, key=by_application), by_application):
        spans = [span_of(call, is_inside=True) for call in group]
        began, end = min(one.began for one in spans), max(one.end for one in spans)
        title = titles.get(application, application) or NOTHING
        yield TimeSpan("run", title, began, (end - began).total_seconds())


def waits_of(run: RunSummary) -> Iterator[TimeSpan]:
    """Yield a span for each time that the run waited for a user. The span starts with the call that
    asked the user, and ends with the answer.
    """
    asked: dict[str, Any] = dict(
        Interaction.objects.filter(run=run.pk).order_by("pk").values_list("key", "kind")
    )
    for step in RunStep.objects.filter(run=run.pk, key__in=asked).only(
        "key", "begun_at", "done_at"
    ):
        end = step.done_at or timezone.now()
        seconds = (end - step.begun_at).total_seconds()
        detail = "" if step.done_at else "not answered yet"
        yield TimeSpan("wait", asked[step.key].replace("_", " "), step.begun_at, seconds, detail)


def row_of(span: TimeSpan, begin: datetime, length: float) -> Row:
    began = (span.began - begin).total_seconds()
    width = max(100 * (span.seconds or 0) / length, NARROWEST)
    x = min(100 * began / length, 100 - width)
    return Row(
        span,
        KIND_NAMES[span.kind],
        duration(began),
        NOTHING if span.seconds is None else duration(span.seconds),
        f"{x:.2f}",
        f"{width:.2f}",
    )


def axis_marks(length: float) -> list[str]:
    """Return the labels of an axis in a unit that suits its length in seconds."""
    moments = [length * part / MARKS for part in range(MARKS + 1)]
    if length >= LONGEST_IN_SECONDS:
        return [in_minutes(moment) for moment in moments]
    if length >= 1:
        return [duration(moment) for moment in moments]
    places = 0 if length >= 0.1 else 2
    return [f"{round(moment * 1000, places):g} ms" for moment in moments]


def duration(seconds: float) -> str:
    if not seconds:
        return "0 s"
    if 0 < seconds < 0.1:
        return f"{seconds * 1000:.3g} ms"
    return f"{seconds:.2f} s" if seconds < LONGEST_IN_SECONDS else in_minutes(seconds)


def in_minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
