"""Parses the texts of predefined prompts, tools, toolsets, skills, chat places and agents."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from apps.manifest.json_text import parse_json
from apps.manifest.markdown.front_matter import FrontMatterInvalid, read_front_matter
from apps.manifest.markdown.skill_files import SKILL_FILE
from apps.manifest.validation.json_document import document_problems

ItemKind = Literal["prompt", "tool", "toolset", "skill", "place", "agent"]

KIND_TITLES: Mapping[str, str] = {
    "prompt": "Prompt",
    "tool": "Tool",
    "toolset": "Toolset",
    "skill": "Skill",
    "place": "Host page",
    "agent": "Agent",
}
"""The names of the kinds that operators see."""

CONFIGURATION = "default_configuration.json"
DATABASE = "database"


@dataclass(frozen=True, slots=True)
class LayerItem:
    """A predefined item from one directory or from the database."""

    kind: ItemKind
    name: str
    layer: str
    """The directory that contains the item, or a name such as "database"."""
    location: str
    """The path of the file, or a text that identifies the database row."""
    text: str = field(default="", repr=False)
    value: Any = None
    """The parsed item: a string for a prompt, chat place or agent, or a JSON object for a tool or
    toolset. For a skill, it maps the paths of all files to their texts, including `SKILL.md`.
    """
    problem: str = ""
    """The reason why the item cannot be used, or ""."""

    @property
    def kind_title(self) -> str:
        return KIND_TITLES[self.kind]

    @property
    def is_row(self) -> bool:
        return self.layer == DATABASE


def item_of(
    kind: ItemKind,
    name: str,
    layer: str,
    location: str,
    text: str,
    files: Mapping[str, str] | None = None,
) -> LayerItem:
    try:
        return LayerItem(kind, name, layer, location, text, value_of(kind, text, files or {}))
    except ValueError as error:
        return LayerItem(kind, name, layer, location, text, problem=str(error))


def value_of(kind: ItemKind, text: str, files: Mapping[str, str]) -> Any:
    """Parse the text of a predefined item into its value. Raises `ValueError` with a message for
    operators.
    """
    if kind in ("tool", "toolset"):
        return object_of(text)
    body = read_prompt(text)[1] if kind == "prompt" else text.strip()
    if not body:
        raise ValueError("the file is empty.")
    return {SKILL_FILE: text, **files} if kind == "skill" else body


def read_prompt(text: str) -> tuple[str, str]:
    """Return a prompt's title, or "", and its text. The title is the only key of its front matter.
    Other front matter is part of the text.
    """
    try:
        found = read_front_matter(text)
    except FrontMatterInvalid:
        return "", text.strip()
    title = found.values.get("title")
    if not isinstance(title, str) or len(found.values) > 1:
        return "", text.strip()
    return title, found.body


def object_of(text: str) -> dict[str, Any]:
    """Parse a JSON object. Raises `ValueError` if the text contains anything else."""
    document = parse_json(text)
    if problems := document_problems(document):
        raise ValueError(f"{problems[0]}.")
    assert isinstance(document, dict)  # noqa: S101 document_problems refuses everything else
    return document


def reason(error: OSError | ValueError) -> str:
    """Return the message of an error, without the file's path."""
    return f"{error.strerror}." if isinstance(error, OSError) else str(error)


LARGEST_FILE = 2 * 1024 * 1024
"""The maximum size of a file of predefined content in bytes. The largest manifests in use are about
100,000 bytes.
"""


def read_item_text(path: Path) -> str:
    """Read a file of predefined content. Raises `OSError`, or `ValueError` if it is too large or
    not UTF-8.
    """
    size = path.stat().st_size
    if size > LARGEST_FILE:
        raise ValueError(f"the file is {size:,} bytes; the limit is {LARGEST_FILE:,}.")
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"Line {line}: not UTF-8; save the file as UTF-8.") from error
