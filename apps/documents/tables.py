"""Tables as Markdown."""

import csv
from collections.abc import Iterable, Iterator, Sequence

DELIMITERS = ",;\t|"
HEAD_CHARACTERS = 10_000
"""In which the delimiter of a CSV file is looked for."""


def csv_as_markdown(text: str) -> str:
    """The text as it is, where it is no table."""
    first = next((line for line in text[:HEAD_CHARACTERS].splitlines() if line.strip()), "")
    delimiter = max(DELIMITERS, key=first.count)
    try:
        return markdown_table(csv.reader(text.splitlines(keepends=True), delimiter=delimiter))
    except csv.Error:
        return text


def markdown_table(rows: Iterable[Sequence[str]]) -> str:
    """The first row is the head; rows keep their own number of cells."""
    return "\n".join(table_lines(rows))


def table_lines(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    is_head = True
    for row in rows:
        cells = [" ".join(cell.split()).replace("|", "\\|") for cell in row]
        if not any(cells):
            continue
        yield f"| {' | '.join(cells)} |"
        if is_head:
            yield f"|{' --- |' * len(cells)}"
        is_head = False
