"""The rooms of the house, from the top down, with the comments of `pyproject.toml`."""

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
LAYERS = re.compile(r'containers = \["apps"\].*?^layers = \[\n(.*?)^\]', re.DOTALL | re.MULTILINE)
LAYER = re.compile(r'^  "(?P<names>[^"]+)",(?:  # (?P<comment>.+))?$', re.MULTILINE)
BEGIN, END = "<!-- rooms -->\n", "<!-- /rooms -->\n"
INDENT = " " * 4
COLUMN = 34
"""The comments begin at this column."""
WIDTH = 100


def picture() -> str:
    contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = LAYERS.search(contract)
    if found is None:
        raise ValueError("pyproject.toml: there are no layers of the container 'apps'.")
    lines = (line for layer in LAYER.finditer(found[1]) for line in lines_of(**layer.groupdict("")))
    return "\n".join(lines) + "\n"


def lines_of(names: str, comment: str) -> Iterator[str]:
    """Yield the names of one layer, and its comment beside them or below."""
    named = wrap(names, WIDTH - len(INDENT))
    told = wrap(comment, WIDTH - COLUMN)
    if told and len(named) == 1 and len(INDENT + named[0]) < COLUMN:
        named[0] = (INDENT + named[0]).ljust(COLUMN)[len(INDENT) :] + told.pop(0)
    yield from (INDENT + line for line in named)
    yield from (" " * COLUMN + line for line in told)


def with_picture(page: str) -> str:
    """Return the text of the page with the current picture."""
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{picture()}\n{END}{after}"
