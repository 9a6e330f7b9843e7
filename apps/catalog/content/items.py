"""Predefined items: a prompt, tool, toolset, skill, place or agent, each made of a text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from apps.catalog.json_text import parse
from apps.manifest.json_document import document_problems
from apps.manifest.skill_files import SKILL_FILE

ItemKind = Literal["prompt", "tool", "toolset", "skill", "place", "agent"]

CONFIGURATION = "default_configuration.json"
DATABASE = "database"


@dataclass(frozen=True, slots=True)
class Item:
    """One item of one layer; `problem` says why it cannot be used.

    `place` is its file or row, `layer` its directory or `database`, `text` its source. `value` is a
    text for prompts, places and agents, a JSON object for tools and toolsets, and for skills all texts
    by their paths, `SKILL.md` among them.
    """

    kind: ItemKind
    name: str
    layer: str
    place: str
    text: str = field(default="", repr=False)
    value: Any = None
    problem: str = ""

    @property
    def is_row(self) -> bool:
        return self.layer == DATABASE


def item_of(
    kind: ItemKind,
    name: str,
    layer: str,
    place: str,
    text: str,
    files: Mapping[str, str] | None = None,
) -> Item:
    try:
        return Item(kind, name, layer, place, text, value_of(kind, text, files or {}))
    except ValueError as error:
        return Item(kind, name, layer, place, text, problem=str(error))


def value_of(kind: ItemKind, text: str, files: Mapping[str, str]) -> Any:
    """Raises ValueError with a message for an operator."""
    if kind in ("tool", "toolset"):
        return object_of(text)
    if not text.strip():
        raise ValueError("the file is empty.")
    return {SKILL_FILE: text, **files} if kind == "skill" else text.strip()


def object_of(text: str) -> dict[str, Any]:
    """Raises ValueError."""
    document = parse(text)
    if problems := document_problems(document):
        raise ValueError(f"{problems[0]}.")
    assert isinstance(document, dict)  # noqa: S101 document_problems refuses everything else
    return document


def reason(error: OSError | ValueError) -> str:
    """The message of an error without the path of the file."""
    return f"{error.strerror}." if isinstance(error, OSError) else str(error)


LARGEST_FILE = 2 * 1024 * 1024
"""Bytes. The largest manifests in use have some 100,000."""


def read_text(path: Path) -> str:
    """Raises `OSError`, and `ValueError` for a file that is too large or not UTF-8."""
    size = path.stat().st_size
    if size > LARGEST_FILE:
        raise ValueError(f"the file has {size:,} bytes; at most {LARGEST_FILE:,} are possible.")
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"Line {line}: not UTF-8; save the file in this encoding.") from error
