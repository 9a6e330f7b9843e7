"""What predefined content consists of: a text each, and for skills the files that lie beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from apps.catalog.json_text import parse
from apps.manifest.json_document import document_problems
from apps.manifest.skill_document import SKILL_FILE

Kind = Literal["prompt", "tool", "toolset", "skill"]

CONFIGURATION = "default_configuration.json"
DATABASE = "database"


@dataclass(frozen=True, slots=True)
class Item:
    """One item of one layer. Where it cannot be used, `problem` says why.

    `place` is its file or row, `layer` the directory that it is from, or `database`. `text` is as
    it was written; `value` is what it means: a text for prompts, a JSON object for tools and
    toolsets, for skills all texts by their paths in the skill, `SKILL.md` among them.
    """

    kind: Kind
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
    kind: Kind,
    name: str,
    layer: str,
    place: str,
    text: str,
    files: Mapping[str, str] | None = None,
) -> Item:
    """The item of a text; one that means nothing gets a problem."""
    try:
        return Item(kind, name, layer, place, text, value_of(kind, text, files or {}))
    except ValueError as error:
        return Item(kind, name, layer, place, text, problem=str(error))


def value_of(kind: Kind, text: str, files: Mapping[str, str]) -> Any:
    """Raises ValueError, with what is wrong in words for an operator."""
    if kind in ("tool", "toolset"):
        return object_of(text)
    if not text.strip():
        raise ValueError("the file is empty.")
    return text.strip() if kind == "prompt" else {SKILL_FILE: text, **files}


def object_of(text: str) -> dict[str, Any]:
    """Raises ValueError."""
    document = parse(text)
    if problems := document_problems(document):
        raise ValueError(f"{problems[0].path}: {problems[0].message}.")
    assert isinstance(document, dict)  # noqa: S101 document_problems refuses everything else
    return document


def reason(error: OSError | ValueError) -> str:
    """What is wrong with a file, without its path."""
    return f"{error.strerror}." if isinstance(error, OSError) else str(error)
