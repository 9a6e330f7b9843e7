"""Reads the JSON files in `application/` and `deployment/`, to import them into the database."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from apps.catalog.application_files.file_kinds import FileKind
from apps.catalog.content.items import read_item_text
from apps.manifest.json_text import JSONTextInvalid, parse_json
from apps.manifest.validation.errors import failure_problems


class ContentInvalid(Exception):
    """Raised if files cannot be imported. Each problem has the form `file: path: error`."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class ApplicationParts:
    """The parts of an imported application that are not database columns."""

    source: str = field(repr=False)
    """The text of `application.yaml`."""
    skills: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The files of each skill, by skill name and then by path."""
    cases: Mapping[str, str] = field(default_factory=dict)
    """The texts of the files in `cases/`, by file name."""
    icon: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ContentFile:
    """A file, or the folder of an application, that can be imported into a database row."""

    kind: FileKind
    file: str
    """The path of the file in the imported directory."""
    key: str
    """The value that identifies the row."""
    fields: Mapping[str, Any]
    """The values of the row, by column."""
    lines: Mapping[str, int] = field(default_factory=dict, repr=False)
    """The line numbers of values in a YAML file, by path."""
    parts: ApplicationParts | None = None
    """The parts that are not columns, or None for a JSON file."""


def read_content_file(kind: FileKind, path: Path) -> ContentFile:
    """Read the JSON file at this path. Raises `ContentInvalid` if it is unreadable or invalid."""
    file = f"{kind.name}/{path.name}"
    try:
        text = read_item_text(path)
    except (OSError, ValueError) as error:
        reason = str(error.strerror if isinstance(error, OSError) else error)
        raise ContentInvalid((f"{file}: {reason}",)) from error
    return read_json(kind, file, path.stem, text)


def read_json(kind: FileKind, file: str, name: str, text: str) -> ContentFile:
    """Parse the text of a JSON file. `name` is the default for the row's key. Raises
    `ContentInvalid` if the text is invalid.
    """
    try:
        document = parse_json(text)
    except JSONTextInvalid as error:
        raise ContentInvalid((f"{file}: {error}",)) from error
    if not isinstance(document, dict):
        raise ContentInvalid((f"{file}: write a JSON object, not {describe(document)}.",))
    try:
        key, fields = read_columns(kind, document, name)
    except ValidationError as error:
        lines = tuple(f"{file}: {line}" for line in shape_problems(kind, document, error))
        raise ContentInvalid(lines) from None
    return ContentFile(kind, file, key, fields)


def read_columns(kind: FileKind, document: Any, name: str) -> tuple[str, dict[str, Any]]:
    """Validate the content of a file. Return the key of its database row, which defaults to `name`,
    and the values by column.

    Raises pydantic's `ValidationError` if the content does not match the kind of file.
    """
    read = kind.shape.model_validate(document).model_dump()
    key = read.pop(kind.key) or name
    return key, {kind.columns.get(k, k): value for k, value in read.items()}


def shape_problems(
    kind: FileKind, document: dict[str, Any], error: ValidationError
) -> Iterator[str]:
    known = list(kind.shape.model_fields)
    for name in document:
        if name not in known:
            yield f"{name!r}: {unknown_key(name, known)}"
    for problem in failure_problems(error, document, kind.shape):
        if re.split(r"[.\[]", problem.path)[0] in known:  # Unknown keys are reported above.
            yield f"{problem}."


def unknown_key(name: str, known: list[str]) -> str:
    if name == "api_key":
        return (
            "files must not contain keys; set 'api_key_env' to the name of an environment variable."
        )
    if near := get_close_matches(name, known, n=1, cutoff=0.5):
        return f"there is no such key; did you mean {near[0]!r}?"
    return f"there is no such key; use one of {', '.join(known)}."


def describe(value: object) -> str:
    kinds = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number")
