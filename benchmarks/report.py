"""Compute ratios from the rounds, and compare them with the goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

PEER = "peer"
CONTROL = "peer again"
FLOOR = "floor"
SITE = "site"
BEHIND = "site behind DIAL Core"
"""The site, which asks Core in every request for the owner of its key."""
CAREFUL = "peer behind DIAL Core"
"""The peer, which asks Core for its properties and its model over shared connections."""
DOCUMENTED = "peer behind DIAL Core, as documented"
"""The same peer with the SDK's own method, which creates a client for each call. Measured only if it
is named."""
BAND = (0.95, 1.05)
CONTENT = "site, predefined content"
"""An application with a predefined prompt, patched predefined tools, a skill and a hook."""
MEASURED = "site, metrics on"
"""The site with metrics for Prometheus. All sites write rows of calls with prices."""
MEASURES = {
    "request": "us/request",
    "tool": "us/request with a tool turn",
    "chunk": "us/chunk",
    "first": "ms to first token, added",
    "burst": "ms to first token, p99 of a burst",
    "memory": "KiB/held stream",
}
LITELLM = "LiteLLM's proxy"
"""LiteLLM's proxy with a master key and without a database, which is started only if it is
installed."""
PASSTHROUGH = "FastAPI pass-through"
GOALS: dict[tuple[str, str], dict[str, float]] = {
    (SITE, PEER): {"request": 5, "tool": 6, "chunk": 4, "first": 3, "burst": 5, "memory": 2.3},
    (CONTENT, PEER): {"request": 4},
    (BEHIND, CAREFUL): {"request": 3, "tool": 4, "chunk": 3, "first": 2},
    (SITE, LITELLM): {"request": 8, "chunk": 6},
}
"""For a system and the system that it is compared with, the minimum ratio of their medians."""
COMPARED = [(SITE, LITELLM), (SITE, PASSTHROUGH), (BEHIND, CAREFUL), (MEASURED, SITE)]
"""The comparisons that are printed in addition to those with the peer."""

Rounds = Mapping[str, Sequence[Mapping[str, float]]]
"""Measures of each round, by system."""


@dataclass(frozen=True)
class Ratio:
    """How many times less a system needs than another one, paired within each round."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"{self.median:.2f} [{self.least:.2f}-{self.most:.2f}]"


def ratio(rounds: Rounds, system: str, measure: str, base: str = PEER) -> Ratio | None:
    """Return the ratio, or None if a system lacks the measure (the floor has no tools)."""
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
    """Return a Markdown table for each measure: the control first, then systems with a different
    base."""
    systems = sorted(rounds, key=lambda name: (name != PEER, name != CONTROL))
    tables = [one_table(rounds, systems, measure) for measure in MEASURES]
    tables += [one for pair in COMPARED for one in compared_table(rounds, *pair)]
    return "\n\n".join(tables)


def compared_table(rounds: Rounds, system: str, base: str) -> list[str]:
    """Return a comparison with a system other than the peer, if both were measured."""
    if not {system, base} <= rounds.keys():
        return []
    lines = [f"| {system} | times less than: {base} |", "|---|---|"]
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
    """Return the measures whose control shows that this run cannot distinguish systems."""
    found = []
    for measure in MEASURES:
        control = ratio(rounds, CONTROL, measure)
        if control is not None and not BAND[0] <= control.median <= BAND[1]:
            found.append(f"void: {measure}, the peer against itself is {control}")
    return found


def missed(rounds: Rounds) -> list[str]:
    found = []
    for (system, base), goals in GOALS.items():
        if not {system, base} <= rounds.keys():
            continue
        for measure, goal in goals.items():
            reached = ratio(rounds, system, measure, base)
            if reached is None or reached.median < goal:
                compared = f"{reached} against {base}, the goal is {goal:g}"
                found.append(f"missed: {system}, {measure} is {compared}")
    return found
