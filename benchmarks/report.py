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
"""Asks Core in every request for whom its key was made."""
CAREFUL = "peer behind DIAL Core"
"""Asks Core for its properties and what its model is, over connections that requests share."""
DOCUMENTED = "peer behind DIAL Core, as documented"
"""The same with the SDK's own method, which makes a client for each call. Measured by name alone."""
BAND = (0.95, 1.05)
CONTENT = "site, predefined content"
"""An application with a predefined prompt, patched predefined tools, a skill and a hook."""
MEASURED = "site, metrics on"
"""Counts and measures for Prometheus; all sites write rows of calls, with prices."""
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
GOALS_BEHIND: dict[str, dict[str, float]] = {
    CAREFUL: {"request": 3, "tool": 4, "first": 2},
    PEER: {"request": 1.5, "tool": 2.5, "first": 1.2},
}
"""Of the site behind DIAL Core, by what it is compared with."""

Rounds = Mapping[str, Sequence[Mapping[str, float]]]
"""By system: its figures, round by round."""


@dataclass(frozen=True)
class Ratio:
    """How many times less than another system, paired inside each round."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"{self.median:.2f} [{self.least:.2f}-{self.most:.2f}]"


def ratio(rounds: Rounds, system: str, measure: str, base: str = PEER) -> Ratio | None:
    """None where a system does not have the measure (the floor knows no tools)."""
    pairs = [
        (other[measure], own[measure])
        for other, own in zip(rounds[base], rounds[system], strict=True)
        if measure in own and measure in other
    ]
    if not pairs:
        return None
    ratios = [other / max(own, 1e-9) for other, own in pairs]
    return Ratio(median(ratios), min(ratios), max(ratios))


def table(rounds: Rounds) -> str:
    """Markdown, one table for each measure, the control first; then what has another base."""
    systems = sorted(rounds, key=lambda name: (name != PEER, name != CONTROL))
    tables = [one_table(rounds, systems, measure) for measure in MEASURES]
    behind = compared_table(rounds, BEHIND, CAREFUL)
    return "\n\n".join([*tables, *behind, *compared_table(rounds, MEASURED, SITE)])


def compared_table(rounds: Rounds, system: str, base: str) -> list[str]:
    """How a system compares with another one than the peer, if both were measured."""
    if not {system, base} <= rounds.keys():
        return []
    lines = [f"| {system} | times less than the {base} |", "|---|---|"]
    compared = {measure: ratio(rounds, system, measure, base) for measure in MEASURES}
    return ["\n".join([*lines, *(f"| {MEASURES[m]} | {r} |" for m, r in compared.items() if r)])]


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
    wanted = [(system, PEER, goals) for system, goals in GOALS.items()]
    wanted += [(BEHIND, base, goals) for base, goals in GOALS_BEHIND.items()]
    found = []
    for system, base, goals in wanted:
        if not {system, base} <= rounds.keys():
            continue
        for measure, goal in goals.items():
            reached = ratio(rounds, system, measure, base)
            if reached is None or reached.median < goal:
                compared = f"{reached} against the {base}, the goal is {goal:g}"
                found.append(f"missed: {system}, {measure} is {compared}")
    return found
