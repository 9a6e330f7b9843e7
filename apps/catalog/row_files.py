"""Reads `application/*.json` and `deployment/*.json`, for import into rows."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from apps.catalog.content.items import read_text
from apps.catalog.file_kinds import FileKind
from apps.catalog.json_text import JSONTextInvalid, parse
from apps.manifest.validation_errors import failure_problems


class ContentInvalid(Exception):
    """Each problem is a line: `file: place: mistake`."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class ApplicationParts:
    """`source` is the text of `application.yaml`; `skills` are the texts of each skill by their
    paths, `cases` those of `cases/*.yaml` by the names of the files. `icon` is a picture.
    """

    source: str = field(repr=False)
    skills: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    cases: Mapping[str, str] = field(default_factory=dict)
    icon: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ContentFile:
    """`file` is its path in the directory, `key` names its row, `fields` are values by columns.

    `lines` has the line of each path in the file, if they are known. `parts` is what an application
    in a folder of its own has beside its columns.
    """

    kind: FileKind
    file: str
    key: str
    fields: Mapping[str, Any]
    lines: Mapping[str, int] = field(default_factory=dict, repr=False)
    parts: ApplicationParts | None = None


def read_file(kind: FileKind, path: Path) -> ContentFile:
    """Raises `ContentInvalid`."""
    file = f"{kind.name}/{path.name}"
    try:
        text = read_text(path)
    except (OSError, ValueError) as error:
        reason = str(error.strerror if isinstance(error, OSError) else error)
        raise ContentInvalid((f"{file}: {reason}",)) from error
    return read_json(kind, file, path.stem, text)


def read_json(kind: FileKind, file: str, name: str, text: str) -> ContentFile:
    """`name` is the key of the row if the text has none. Raises `ContentInvalid`."""
    try:
        document = parse(text)
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
    """The key of the row, which is `name` if the document has none, and its columns.

    Raises pydantic's `ValidationError`.
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
        if re.split(r"[.\[]", problem.path)[0] in known:  # unknown keys are reported above
            yield f"{problem}."


def unknown_key(name: str, known: list[str]) -> str:
    if name == "api_key":
        return "files hold no keys; name an environment variable in 'api_key_env'."
    if near := get_close_matches(name, known, n=1, cutoff=0.5):
        return f"there is no such key; did you mean {near[0]!r}?"
    return f"there is no such key; possible are {', '.join(known)}."


def describe(value: object) -> str:
    kinds = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number")
