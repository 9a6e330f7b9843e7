"""Reads Excel workbooks: the rows of each sheet, with tabs between cells, and calculated values in
place of formulas.

A cell that is far from the previous cell, often by mistake, is written with its address: `[XFD7]
far`.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from io import BytesIO
from operator import itemgetter
from typing import Any

from openpyxl import load_workbook
from openpyxl.utils import get_column_letter
from openpyxl.worksheet._reader import WorkSheetParser

from apps.documents.paged_text import PagePart, requested_pages

ROWS_AT_ONCE = 500
"""The number of rows in a part. The process checks the time limit after each part."""
MOST_EMPTY = 100
"""The maximum number of adjacent empty cells that are written as tabs."""


def parts(content: BytesIO, order: dict[str, Any]) -> Iterator[PagePart]:
    """Yield the rows of the requested sheets of a workbook. Raises `UnreadableDocument` if it has
    none of these sheets.
    """
    book = load_workbook(content, read_only=True, data_only=True, keep_links=False)
    sheets = book.worksheets
    for number in requested_pages(order, len(sheets), "sheet"):
        sheet = sheets[number - 1]
        title = " ".join(sheet.title.split())
        yield PagePart("", f"[sheet {title}]", number, title)
        rows = nonempty_rows(rows_of(sheet))
        yield from (PagePart(text, page=number, title=title) for text in rows)


def rows_of(sheet: Any) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Yield the number and the cells of each row that the sheet's XML contains. `iter_rows` would
    also create the empty rows and cells in between, possibly millions.
    """
    book = sheet.parent
    with sheet._get_source() as source:  # noqa: SLF001 - as `iter_rows` opens it
        parser = WorkSheetParser(
            source,
            sheet._shared_strings,  # noqa: SLF001
            data_only=book.data_only,
            epoch=book.epoch,
            date_formats=book._date_formats,  # noqa: SLF001
            timedelta_formats=book._timedelta_formats,  # noqa: SLF001
        )
        yield from parser.parse()


def nonempty_rows(rows: Iterator[tuple[int, list[dict[str, Any]]]]) -> Iterator[str]:
    """Yield the text of the rows that are not empty, up to `ROWS_AT_ONCE` rows at a time."""
    lines: list[str] = []
    for count, (number, cells) in enumerate(rows, start=1):
        if line := row_text(number, cells):
            lines.append(line)
        if lines and count % ROWS_AT_ONCE == 0:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


def row_text(number: int, cells: Sequence[dict[str, Any]]) -> str:
    """Return the text of a row, with tabs between cells and in place of empty cells."""
    line, last = "", 0
    texts = ((cell["column"], cell_text(cell["value"])) for cell in cells)
    for column, text in sorted(filter(itemgetter(1), texts), key=itemgetter(0)):
        if column - last > MOST_EMPTY:
            address = f"[{get_column_letter(column)}{number}] "
            line += f"\t{address}{text}" if line else f"{address}{text}"
        else:
            line += "\t" * (column - max(last, 1)) + text
        last = column
    return line


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
