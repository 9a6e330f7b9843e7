"""Goals of a measurement, each told in one line: reached or not."""

from __future__ import annotations


def is_reached(name: str, value: float, most: float, unit: str) -> bool:
    """Tell whether the value is at most what is wanted."""
    reached = value <= most
    verdict = "reached" if reached else "NOT REACHED"
    print(f"goal: {name}: {value:,.1f} {unit}, at most {most:,.1f} {unit} wanted: {verdict}")
    return reached
