"""Figures in tables of the admin: for people, and for programs that read the file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

NOTHING = "\N{EN DASH}"
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the begin of a formula."""

Unit = Literal["count", "share", "seconds"]
Value = str | int | float | Mapping[str, Decimal] | datetime | None
"""A mapping is of costs by their currencies."""


@dataclass(frozen=True, slots=True)
class Column:
    """`order` is what the page sorts by when its heading is chosen, "" for what is not sorted."""

    title: str
    order: str = ""
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """`hint` is what a pointer on it shows."""

    value: Value
    unit: Unit = "count"
    link: str = ""
    hint: str = ""

    @property
    def text(self) -> str:
        match self.value:
            case None | "":
                return NOTHING
            case str() as text:
                return text
            case datetime() as moment:
                return f"{moment:%Y-%m-%d %H:%M}"
            case int() | float() as number:
                return shown_number(number, self.unit)
            case costs:
                return money(costs)

    @property
    def plain(self) -> object:
        """For programs: a number, or costs to their last place."""
        match self.value:
            case str() as text:
                return harmless(text)
            case datetime() as moment:
                return moment.isoformat(timespec="seconds")
            case None | int() | float() as number:
                return number
            case costs:
                return " + ".join(f"{cost:f} {name}" for name, cost in sorted(costs.items()))


@dataclass(frozen=True, slots=True)
class Table:
    """The first cell of a row is its heading; `slug` is its name in addresses."""

    slug: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]

    @property
    def labelled_rows(self) -> list[tuple[Cell, list[tuple[Column, Cell]]]]:
        return [(row[0], list(zip(self.columns[1:], row[1:], strict=True))) for row in self.rows]


def shown_number(number: float, unit: Unit) -> str:
    if unit == "share":
        return f"{number:.1%}"
    return f"{number:,.2f} s" if unit == "seconds" else f"{number:,}"


def money(costs: Mapping[str, Decimal]) -> str:
    """Sums of money in all their currencies; small ones with more places."""
    shown = (
        f"{cost:,.2f} {currency}" if cost >= 1 or not cost else f"{cost:,.4f} {currency}"
        for currency, cost in sorted(costs.items())
    )
    return " + ".join(shown) or NOTHING


def harmless(text: str) -> str:
    """The text so that no spreadsheet computes it: clients choose the names of their tools."""
    return f"'{text}" if text.startswith(FORMULA) else text
