"""The budgets of the counted work: the counts of one version of Python, and how they are enforced."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.work.counting import PER_UNIT
from benchmarks.work.doors import PAGE, RATES

PATH = Path(__file__).with_name("budgets.json")
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
HEADROOM = 1.05
LOOSE = {PAGE, RATES}
LOOSE_HEADROOM = 1.25
"""The tolerance for doors that write in the background, so that their counts vary by a few percent.
The differences of two of their answers, such as a chunk, are not compared."""
HELD_HEADROOM = 1.1
"""The tolerance for memory, which depends on the sizes of lists and dicts and grows in steps."""
SHOWN_MODULES = 5

Found = Mapping[str, Mapping[str, Any]]


def write_budgets(found: Found) -> None:
    """Write one line for each unit of a door, so that differences are easy to read."""
    doors = []
    for door, units in found.items():
        lines = [f"  {json.dumps(unit)}: {json.dumps(counts)}" for unit, counts in units.items()]
        doors.append(f" {json.dumps(door)}: {{\n" + ",\n".join(lines) + "\n }")
    PATH.write_text(f'{{\n "python": "{PYTHON}",\n' + ",\n".join(doors) + "\n}\n")


def read_budgets() -> Found | None:
    """Return None for the budgets of another Python version, which calls functions differently."""
    budgets: dict[str, Any] = json.loads(PATH.read_text())
    return budgets if budgets.pop("python") == PYTHON else None


def excesses(found: Found, budgets: Found | None) -> list[str]:
    """Return a sentence for each count that exceeds its budget, with the modules that grew."""
    if budgets is None:
        return []
    return [text for door in found for text in excesses_of(door, found[door], budgets.get(door))]


def excesses_of(
    door: str, units: Mapping[str, Any], budgets: Mapping[str, Any] | None
) -> Iterator[str]:
    if budgets is None:
        yield f"{door} has no budget."
        return
    is_loose = door in LOOSE
    headroom = LOOSE_HEADROOM if is_loose else HEADROOM
    for unit, counts in units.items():
        if unit == "held":
            if counts > budgets[unit] * HELD_HEADROOM:
                yield f"{door}: a held stream has {counts} bytes; the budget is {budgets[unit]}."
            continue
        if is_loose and unit != "request":
            continue
        for name in PER_UNIT:
            if counts[name] > budgets[unit][name] * headroom:
                text = f"{door}: a {unit} has {counts[name]:.5g} {name}; "
                grown = growth(counts["modules"], budgets[unit]["modules"])
                yield f"{text}the budget is {budgets[unit][name]:.5g}. Calls grew in {grown}."


def growth(calls: Mapping[str, float], budget: Mapping[str, float]) -> str:
    more = {module: count - budget.get(module, 0) for module, count in calls.items()}
    most = sorted((module for module in more if more[module] > 0), key=lambda name: -more[name])
    return (
        ", ".join(f"{module} (+{more[module]:.5g})" for module in most[:SHOWN_MODULES])
        or "no module"
    )
