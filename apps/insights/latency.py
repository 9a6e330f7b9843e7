"""Reads the latencies of models and tools in the last hour."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from apps.agent.meter import CANCELLED
from apps.insights.histograms import nearest_rank
from apps.insights.meter import STUDIO
from apps.insights.models import ModelCall, ToolUse
from apps.insights.sums import FAILED, of_applications

PERIOD = timedelta(minutes=60)
PERCENTS = (50, 95, 99)

Seconds = dict[str, float | None]
"""Maps percentiles, such as `p95`, to durations in seconds, or to None if there are no values."""


@dataclass(frozen=True, slots=True)
class ModelLatency:
    """The latencies of a model."""

    provider: str
    model: str
    calls: int
    error_rate: float
    first_text_seconds: Seconds
    turn_seconds: Seconds
    cache_hit_rate: float | None
    """The mean share of input tokens from the service's cache, or None if no call reported it."""


@dataclass(frozen=True, slots=True)
class ToolLatency:
    """The latencies of a tool, or of all tools at a `location`. Tools on the client have no
    latencies.
    """

    tool: str
    location: str
    calls: int
    error_rate: float
    seconds: Seconds


@dataclass(frozen=True, slots=True)
class LatencyReport:
    models: Sequence[ModelLatency]
    tools: Sequence[ToolLatency]
    locations: Sequence[ToolLatency]


@dataclass(slots=True)
class Samples:
    """The measurements that one line of the report summarizes."""

    calls: int = 0
    errors: int = 0
    seconds: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)

    @property
    def error_rate(self) -> float:
        return self.errors / self.calls if self.calls else 0.0

    @property
    def cache_hit_rate(self) -> float | None:
        return sum(self.shares) / len(self.shares) if self.shares else None


def latency_report(
    now: datetime, bucket: str | None = None, among: Collection[str] | None = None
) -> LatencyReport:
    """Return the latencies in the hour before `now`.

    If `bucket` is not None, only calls by this caller count. If `among` is not None, only calls in
    applications with these slugs count. Failed calls of test messages in the studio do not count.
    """
    recent = Q(started_at__gte=now - PERIOD) & of_applications(among)
    if bucket is not None:
        recent &= Q(bucket=bucket)
    models = ModelCall.objects.filter(recent).exclude(FAILED, door=STUDIO)
    tools = ToolUse.objects.filter(recent).exclude(has_failed=True, door=STUDIO)
    return LatencyReport(
        list(model_lines(models)),
        list(tool_lines(tools, by_tool=True)),
        list(tool_lines(tools, by_tool=False)),
    )


def model_lines(calls: QuerySet[ModelCall]) -> Iterator[ModelLatency]:
    """Yield the latencies of each model, the models with the most calls first."""
    found: defaultdict[tuple[str, str], Samples] = defaultdict(Samples)
    columns = ("seconds", "first_text_seconds", "error", "input_tokens", "cached_tokens")
    for provider, model, *values in calls.values_list("provider", "model", *columns).iterator():
        add_call(found[provider, model], *values)
    for (provider, model), one in in_order(found.items()):
        yield ModelLatency(
            provider,
            model,
            one.calls,
            one.error_rate,
            percentiles(one.first),
            percentiles(one.seconds),
            one.cache_hit_rate,
        )


def add_call(
    samples: Samples,
    seconds: float | None,
    first: float | None,
    error: str,
    input: int | None,
    cached: int | None,
) -> None:
    if seconds is not None:  # Rows for a call's further models have no duration.
        samples.calls += 1
        samples.errors += error not in ("", CANCELLED)
        samples.seconds.append(seconds)
    if first is not None:
        samples.first.append(first)
    if input and cached is not None:
        samples.shares.append(cached / input)


def tool_lines(uses: QuerySet[ToolUse], *, by_tool: bool) -> Iterator[ToolLatency]:
    """Yield the latencies per location or, if `by_tool` is True, per tool and location. Lines with
    the most calls come first.
    """
    found: defaultdict[tuple[str, str], Samples] = defaultdict(Samples)
    rows = uses.values_list("tool", "location", "seconds", "has_failed").iterator()
    for tool, location, seconds, has_failed in rows:
        samples = found[tool if by_tool else "", location]
        samples.calls += 1
        samples.errors += has_failed
        if seconds is not None:
            samples.seconds.append(seconds)
    for (tool, location), one in in_order(found.items()):
        yield ToolLatency(tool, location, one.calls, one.error_rate, percentiles(one.seconds))


def in_order(
    found: Iterable[tuple[tuple[str, str], Samples]],
) -> list[tuple[tuple[str, str], Samples]]:
    return sorted(found, key=lambda item: (-item[1].calls, item[0]))


def percentiles(values: list[float]) -> Seconds:
    """Return exact percentiles by the nearest-rank method."""
    values.sort()
    return {
        f"p{percent}": values[nearest_rank(len(values), percent) - 1] if values else None
        for percent in PERCENTS
    }
