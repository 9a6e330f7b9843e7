"""Formats table cells for admin pages and downloads. Downloads contain unformatted numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from itertools import compress
from typing import Literal

from django.utils.formats import date_format
from django.utils.safestring import SafeString

from apps.console import time_cells

NOTHING = time_cells.NOTHING
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""If a text starts with one of these characters, a spreadsheet treats it as a formula."""

Unit = Literal["count", "share", "seconds"]
Value = str | int | float | Mapping[str, Decimal] | datetime | None
"""The value of a table cell. A mapping contains costs by currency."""


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    order: str = ""
    """The sort key of the column, or "" if the table cannot be sorted by this column."""
    is_text: bool = False
    is_extra: bool = False
    """True for a column that appears only in the download."""


@dataclass(frozen=True, slots=True)
class Cell:
    value: Value
    unit: Unit = "count"
    link: str = ""
    hint: str = ""
    download: str = ""
    """The text in the download, if it differs from the text on the page."""
    below: str = ""
    """A second line in small type, with a name or an ID."""
    note: str = ""
    """A second line of text."""

    @property
    def text(self) -> str | SafeString:
        match self.value:
            case None | "":
                return NOTHING
            case str() as text:
                return text
            case datetime() as moment:
                return time_cells.time_cell(moment)
            case int() | float() as number:
                return shown_number(number, self.unit)
            case costs:
                return money(costs)

    @property
    def plain(self) -> object:
        """Return the cell's value for a download. Costs have all their decimal places."""
        match self.download or self.value:
            case str() as text:
                return harmless(text)
            case datetime() as moment:
                return moment.isoformat(timespec="seconds")
            case None | int() | float() as number:
                return number
            case costs:
                return " + ".join(f"{cost:f} {name}" for name, cost in sorted(costs.items()))


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, such as "1 call" or "2,000 calls"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def shown_time(moment: datetime, format: str = "DATETIME_FORMAT") -> str:
    return date_format(moment, format)


@dataclass(frozen=True, slots=True)
class Table:
    """A table for a page and its download. The first cell of each row is the row's heading."""

    slug: str
    """The table's name in URLs."""
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]

    @property
    def of_page(self) -> "Table":
        """Return the table without the columns that only the download contains."""
        shown = [not column.is_extra for column in self.columns]
        rows = [list(compress(row, shown)) for row in self.rows]
        return replace(self, columns=list(compress(self.columns, shown)), rows=rows)

    @property
    def labelled_rows(self) -> list[tuple[Cell, list[tuple[Column, Cell]]]]:
        return [(row[0], list(zip(self.columns[1:], row[1:], strict=True))) for row in self.rows]


def shown_number(number: float, unit: Unit) -> str:
    if unit == "share":
        return f"{number:.1%}"
    return f"{number:,.2f} s" if unit == "seconds" else f"{number:,}"


def money(costs: Mapping[str, Decimal]) -> str:
    """Format a cost in each of its currencies. Amounts below 1 have four decimal places."""
    shown = (
        f"{cost:,.2f} {currency}" if cost >= 1 or not cost else f"{cost:,.4f} {currency}"
        for currency, cost in sorted(costs.items())
    )
    return " + ".join(shown) or NOTHING


def harmless(text: str) -> str:
    """Quote the text if a spreadsheet would evaluate it as a formula. A client chooses the names of
    its tools, so the text may come from an attacker.
    """
    return f"'{text}" if text.startswith(FORMULA) else text
