"""Small SVG plots in the colors of the pages, with a light background in dark mode too."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 360, 150, 46, 12, 28, 22
PAPER, LINE, SOFT, INK, ACCENT = "#faf9f6", "#e2dfd6", "#575d62", "#1f2428", "#0f766e"
"""--paper, --line, --ink-soft, --ink and --accent of the light theme."""


def plot(title: str, hours: Sequence[float], values: Sequence[float]) -> str:
    """Draw a line over days, from zero."""
    most = max([*values, 1.0]) * 1.15
    span = max(hours[-1], 1.0)
    points = " ".join(
        f"{LEFT + hour / span * (WIDTH - LEFT - RIGHT):.1f},{place(value, most):.1f}"
        for hour, value in zip(hours, values, strict=True)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" font-family="system-ui, sans-serif" font-size="11">'
        f"<title>{escape(title)}</title>"
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="6" fill="{PAPER}"/>'
        f'<text x="12" y="18" fill="{INK}" font-weight="600">{escape(title)}</text>'
        f"{grid(most)}"
        f'<polyline points="{points}" fill="none" stroke="{ACCENT}" stroke-width="1.6"/>'
        f'<text x="{LEFT}" y="{HEIGHT - 7}" fill="{SOFT}">0</text>'
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 7}" fill="{SOFT}" text-anchor="end">'
        f"{span / 24:.0f} days</text></svg>\n"
    )


def grid(most: float) -> str:
    lines = ((share, share * most) for share in (0.0, 0.5, 1.0))
    return "".join(
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{place(value, most):.1f}" '
        f'y2="{place(value, most):.1f}" stroke="{LINE}"/>'
        f'<text x="{LEFT - 6}" y="{place(value, most) + 4:.1f}" fill="{SOFT}" text-anchor="end">'
        f"{value:,.0f}</text>"
        for _, value in lines
    )


def place(value: float, most: float) -> float:
    return TOP + (1 - value / most) * (HEIGHT - TOP - BOTTOM)
