"""Reads Word documents as Markdown, with headings, lists and tables."""

import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from docx import Document
from docx.table import Table, _Cell
from docx.text.paragraph import Paragraph

from apps.documents.paged_text import PagePart

DEEPEST = 8
"""The maximum number of nested tables. Deeper tables are omitted."""

_heading = re.compile(r"Heading ([1-6])")


def parts(content: BytesIO, order: dict[str, Any]) -> Iterator[PagePart]:
    for block in Document(content).iter_inner_content():
        text = table(block) if isinstance(block, Table) else paragraph(block)
        if text:
            yield PagePart(text)


def paragraph(block: Paragraph) -> str:
    text = block.text.strip()
    style = (block.style.name if block.style is not None else "") or ""
    if not text:
        return ""
    if style == "Title":
        return f"# {text}"
    if heading := _heading.fullmatch(style):
        return f"{'#' * int(heading[1])} {text}"
    if style.startswith("List"):
        return f"- {text}"
    return text


def table(block: Table, depth: int = 1) -> str:
    """Return a Word table as text with one line per row. A merged cell appears only once."""
    lines = []
    for row in block.rows:
        # `row.cells` repeats a cell for each of its columns, up to billions of times.
        texts = [
            " ".join(inner(item, depth) for item in cell.iter_inner_content() if inner(item, depth))
            for cell in (_Cell(element, block) for element in row._tr.tc_lst)
        ]
        lines.append(f"| {' | '.join(' '.join(text.split()) for text in texts)} |")
    return "\n".join(lines)


def inner(item: Paragraph | Table, depth: int) -> str:
    if isinstance(item, Paragraph):
        return item.text.strip()
    return table(item, depth + 1) if depth < DEEPEST else ""
