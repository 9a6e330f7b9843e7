"""Reads the sentences of a checkout: docstrings, comments, pages of the docs, visible texts."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from babel.messages.pofile import read_po

ROOT = Path(__file__).parents[2]
PACKAGES = ("apps", "quickapps_site")
NOT_WRITTEN_HERE = frozenset({"bundles", "vendor"})
"""Folders of scripts and styles that are built or copied."""
FRONT_END_COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'`\w])//[^\n]*", re.DOTALL)


class Sentence(NamedTuple):
    """A text and its location, `path:line`."""

    place: str
    text: str


def modules(root: Path) -> Iterator[tuple[Path, str]]:
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path, path.read_text(encoding="utf-8")


def docstrings(root: Path = ROOT) -> Iterator[Sentence]:
    """Yield the docstrings of modules, classes, functions, attributes and constants."""
    for path, source in modules(root):
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield Sentence(f"{path.relative_to(root)}:{node.lineno}", text.strip())
                case _:
                    pass


def comments(root: Path = ROOT) -> Iterator[Sentence]:
    for path, source in modules(root):
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                place = f"{path.relative_to(root)}:{token.start[0]}"
                yield Sentence(place, token.string.lstrip("# "))


def front_end_comments(root: Path = ROOT) -> Iterator[Sentence]:
    """Yield the comments of scripts and styles."""
    for path in sorted((root / "apps").rglob("static/**/*")):
        if path.suffix not in (".js", ".css") or NOT_WRITTEN_HERE.intersection(path.parts):
            continue
        source = path.read_text(encoding="utf-8")
        for comment in FRONT_END_COMMENT.finditer(source):
            line = source.count("\n", 0, comment.start()) + 1
            text = " ".join(comment[0].strip("/* \n").replace("\n * ", "\n").split())
            yield Sentence(f"{path.relative_to(root)}:{line}", text)


def pages(root: Path = ROOT) -> Iterator[Sentence]:
    """Yield the lines of the docs, without blocks of code."""
    for path in sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")]):
        is_code = False
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            is_fence = line.lstrip().startswith("```")
            is_code ^= is_fence
            if line.strip() and not is_code and not is_fence:
                yield Sentence(f"{path.relative_to(root)}:{number}", line)


def visible_texts(root: Path = ROOT) -> Iterator[Sentence]:
    """Yield the texts of pages and scripts, as the catalogs list them."""
    for catalogue in sorted((root / "quickapps_site/locale/de/LC_MESSAGES").glob("*.po")):
        with catalogue.open("rb") as file:
            for message in read_po(file):
                if message.id:
                    one = message.id if isinstance(message.id, str) else message.id[0]
                    yield Sentence(f"{catalogue.name}:{message.lineno}", one)
