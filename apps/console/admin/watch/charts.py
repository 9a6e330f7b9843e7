"""Draws charts over time as SVG without scripts: bars for counts, and step lines for durations.

A chart has a width of one unit per interval and a height of 100. The page scales it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from apps.console.admin.cells import shown_number

HEIGHT = 100.0
GAP = 0.2
"""The gap between two bars, as a fraction of an interval."""

Kind = Literal["bars", "steps"]


@dataclass(frozen=True, slots=True)
class Series:
    """A data series of a chart, drawn as a line or as bars of one color."""

    name: str
    values: Sequence[float | None]
    """One value per interval of the chart, or None for an interval without data."""


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A tooltip at one interval of a chart."""

    x: int
    text: str


@dataclass(frozen=True)
class Chart:
    """A chart over time. Bars of several series are stacked."""

    title: str
    kind: Kind
    labels: Sequence[str]
    """One label per interval of the chart."""
    axis_labels: Sequence[str]
    """The labels below the start, the middle and the end of the chart."""
    series: Sequence[Series]
    unit: str = ""
    """The unit of the values: a currency, "s" for seconds, or "" for counts."""
    color: int = 1
    """The number of the first series' color in the style sheet."""

    @property
    def width(self) -> int:
        return len(self.labels)

    @property
    def has_values(self) -> bool:
        return any(value for series in self.series for value in series.values)

    @cached_property
    def top(self) -> float:
        """The value at the upper end of the chart: 1, 2 or 5 times a power of ten."""
        if self.kind == "bars":
            columns = zip(*(series.values for series in self.series), strict=True)
            most = max((sum(value or 0 for value in column) for column in columns), default=0)
        else:
            most = max((value or 0 for one in self.series for value in one.values), default=0)
        return round_up(most)

    @property
    def top_text(self) -> str:
        return self.shown(self.top)

    @property
    def description(self) -> str:
        said = []
        for series in self.series:
            known = [value for value in series.values if value is not None]
            if known:
                most = max(known)
                at = self.labels[series.values.index(most)]
                said.append(f"{series.name}: maximum {self.shown(most)}, {at}.")
        return " ".join(said)

    @property
    def paths(self) -> list[tuple[int, str]]:
        """The number of the color and the SVG path of each series."""
        if self.kind == "steps":
            return [(color, self.steps(series)) for color, series in self.colored]
        floors = [0.0] * self.width
        return [(color, self.bars(series, floors)) for color, series in self.colored]

    @property
    def colored(self) -> list[tuple[int, Series]]:
        return list(enumerate(self.series, self.color))

    def bars(self, series: Series, floors: list[float]) -> str:
        """Return the SVG path of bars on top of `floors`, and add the bars' heights to `floors`."""
        parts, scale, width = [], HEIGHT / self.top, 1 - GAP
        for x, value in enumerate(series.values):
            if value:
                floors[x] += value * scale
                y = f"{HEIGHT - floors[x]:.2f}"
                parts.append(f"M{x + GAP / 2:g} {y}h{width:g}v{value * scale:.2f}h-{width:g}z")
        return "".join(parts)

    def steps(self, series: Series) -> str:
        """Return the SVG path of a step line. It has gaps where the series has no values."""
        parts, is_drawing, scale = [], False, HEIGHT / self.top
        for x, value in enumerate(series.values):
            if value is not None:
                y = f"{HEIGHT - value * scale:.2f}"
                parts.append(f"V{y}H{x + 1}" if is_drawing else f"M{x} {y}H{x + 1}")
            is_drawing = value is not None
        return "".join(parts)

    @property
    def tooltips(self) -> list[ChartPoint]:
        found = []
        for x, label in enumerate(self.labels):
            known = [(one.name, one.values[x]) for one in self.series]
            said = ", ".join(f"{name} {self.shown(value)}" for name, value in known if value)
            if said:
                found.append(ChartPoint(x, f"{label}: {said}"))
        return found

    def shown(self, value: float) -> str:
        if self.unit == "s":
            return shown_number(value, "seconds")
        number = f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.3g}"
        return f"{number} {self.unit}".strip()


def round_up(value: float) -> float:
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 5, 10) if value <= step * power)
