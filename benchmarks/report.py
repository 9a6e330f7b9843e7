"""From rounds to ratios, and from ratios to a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

PEER = "peer"
CONTROL = "peer again"
FLOOR = "floor"
SITE = "site"
BEHIND = "site behind DIAL Core"
"""Asks Core who is calling, for which application, and what its model is, in every request."""
BAND = (0.95, 1.05)
CONTENT = "site, predefined content"
"""An application with a predefined prompt, patched predefined tools, a skill and a hook."""
MEASURES = {
    "request": "us/request",
    "tool": "us/request with a tool turn",
    "chunk": "us/chunk",
    "first": "ms to first token, added",
    "burst": "ms to first token, p99 of a burst",
    "memory": "KiB/held stream",
}
GOALS: dict[str, dict[str, float]] = {
    SITE: {"request": 5, "tool": 6, "chunk": 5, "first": 3, "burst": 5, "memory": 2.5},
    CONTENT: {"request": 4},
}
"""Times less than the peer; the median has to clear it."""

Rounds = Mapping[str, Sequence[Mapping[str, float]]]
"""By system: its figures, round by round."""


@dataclass(frozen=True)
class Ratio:
    """How many times less than the peer, paired inside each round."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"{self.median:.2f} [{self.least:.2f}-{self.most:.2f}]"


def ratio(rounds: Rounds, system: str, measure: str) -> Ratio | None:
    """None where a system does not have the measure (the floor knows no tools)."""
    pairs = [
        (peer[measure], own[measure])
        for peer, own in zip(rounds[PEER], rounds[system], strict=True)
        if measure in own and measure in peer
    ]
    if not pairs:
        return None
    ratios = [peer / max(own, 1e-9) for peer, own in pairs]
    return Ratio(median(ratios), min(ratios), max(ratios))


def table(rounds: Rounds) -> str:
    """Markdown, one table for each measure, the control first."""
    systems = sorted(rounds, key=lambda name: (name != PEER, name != CONTROL))
    return "\n\n".join(one_table(rounds, systems, measure) for measure in MEASURES)


def one_table(rounds: Rounds, systems: Sequence[str], measure: str) -> str:
    lines = [f"| {MEASURES[measure]} | median | times less than the peer |", "|---|---|---|"]
    for system in systems:
        compared = ratio(rounds, system, measure)
        if compared is not None:
            figures = [found[measure] for found in rounds[system] if measure in found]
            lines.append(f"| {system} | {median(figures):.1f} | {compared} |")
    return "\n".join(lines)


def out_of_band(rounds: Rounds) -> list[str]:
    """The measures whose control says that this run cannot tell systems apart."""
    found = []
    for measure in MEASURES:
        control = ratio(rounds, CONTROL, measure)
        if control is not None and not BAND[0] <= control.median <= BAND[1]:
            found.append(f"void: {measure}, the peer against itself is {control}")
    return found


def missed(rounds: Rounds) -> list[str]:
    found = []
    for system in GOALS.keys() & rounds.keys():
        for measure, goal in GOALS[system].items():
            reached = ratio(rounds, system, measure)
            if reached is None or reached.median < goal:
                found.append(f"missed: {system}, {measure} is {reached}, the goal is {goal:g}")
    return found
