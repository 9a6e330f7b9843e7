"""Goals of a measurement. Each is printed in one line: reached or not."""

from __future__ import annotations


def is_reached(name: str, value: float, most: float, unit: str) -> bool:
    """Return True if the value is at most `most`, and print the result."""
    reached = value <= most
    verdict = "reached" if reached else "NOT REACHED"
    print(f"goal: {name}: {value:,.1f} {unit}, at most {most:,.1f} {unit} wanted: {verdict}")
    return reached
