"""Excel: the rows of each sheet, as they were last calculated; cells are separated by tabs."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from io import BytesIO
from typing import Any

from openpyxl import load_workbook

from apps.documents.pages import Part, wanted_pages

ROWS_AT_ONCE = 500
"""Rows of one part, after which the time is looked at."""


def parts(content: BytesIO, order: dict[str, Any]) -> Iterator[Part]:
    """Raises `Unreadable`."""
    book = load_workbook(content, read_only=True, data_only=True, keep_links=False)
    sheets = book.worksheets
    for number in wanted_pages(order, len(sheets), "sheet"):
        sheet = sheets[number - 1]
        title = " ".join(sheet.title.split())
        yield Part("", f"[sheet {title}]", number, title)
        # A sheet may claim a wrong size, and would then have millions of empty rows.
        sheet.reset_dimensions()
        rows = grouped(sheet.iter_rows(values_only=True))
        yield from (Part(text, page=number, title=title) for text in rows)


def grouped(rows: Iterator[Sequence[Any]]) -> Iterator[str]:
    """The rows that are not empty, without empty cells at the end."""
    lines: list[str] = []
    for count, row in enumerate(rows, start=1):
        line = "\t".join(map(cell_text, row)).rstrip("\t")
        if line:
            lines.append(line)
        if lines and count % ROWS_AT_ONCE == 0:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


def cell_text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case datetime() | date() | time():
            return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case _:
            return " ".join(str(value).split())
