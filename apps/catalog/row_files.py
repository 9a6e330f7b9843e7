"""Reads `application/*.json` and `deployment/*.json` of directories, for import into rows.

All mistakes of all files are reported together.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from apps.catalog.content.items import read_text
from apps.catalog.file_kinds import KINDS, FileKind
from apps.catalog.json_text import JSONTextInvalid, parse
from apps.manifest.validation_errors import failure_problems


class ContentInvalid(Exception):
    """Each problem is a line: `file: place: mistake`."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class ContentFile:
    """`file` is its path in the directory, `key` names its row, `fields` are values by columns."""

    kind: FileKind
    file: str
    key: str
    fields: Mapping[str, Any]


def read_directory(directory: Path) -> list[ContentFile]:
    """Deployments first. Raises `ContentInvalid`."""
    folders = [(kind, directory / kind.name) for kind in KINDS]
    if not any(folder.is_dir() for _, folder in folders):
        names = " or ".join(f"{kind.name}/" for kind in KINDS)
        raise ContentInvalid((f"{directory}: there is no {names} in this directory.",))
    items: list[ContentFile] = []
    problems: list[str] = []
    for kind, folder in folders:
        for path in sorted(folder.glob("*.json")):
            try:
                items.append(read_file(kind, path))
            except ContentInvalid as error:
                problems += error.problems
    problems += duplicates(items)
    if problems:
        raise ContentInvalid(tuple(problems))
    return items


def read_directories(directories: Sequence[Path]) -> list[ContentFile]:
    """The files of several layers, later ones winning, deployments first.

    Only the first layer must have any. Raises `ContentInvalid`.
    """
    first, *further = directories
    found = read_directory(first)
    for directory in further:
        if any((directory / kind.name).is_dir() for kind in KINDS):
            found += read_directory(directory)
    winners = {(item.kind.name, item.key): item for item in found}
    return sorted(winners.values(), key=lambda item: KINDS.index(item.kind))


def read_file(kind: FileKind, path: Path) -> ContentFile:
    """Raises `ContentInvalid`."""
    file = f"{kind.name}/{path.name}"
    try:
        document = parse(read_text(path))
    except (JSONTextInvalid, OSError, ValueError) as error:
        reason = str(error.strerror if isinstance(error, OSError) else error)
        raise ContentInvalid((f"{file}: {reason}",)) from error
    if not isinstance(document, dict):
        raise ContentInvalid((f"{file}: write a JSON object, not {describe(document)}.",))
    try:
        read = kind.shape.model_validate(document).model_dump()
    except ValidationError as error:
        lines = tuple(f"{file}: {line}" for line in shape_problems(kind, document, error))
        raise ContentInvalid(lines) from None
    key = read.pop(kind.key) or path.stem
    return ContentFile(
        kind, file, key, {kind.columns.get(k, k): value for k, value in read.items()}
    )


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


def duplicates(items: list[ContentFile]) -> Iterator[str]:
    first: dict[tuple[str, str], str] = {}
    for item in items:
        other = first.setdefault((item.kind.name, item.key), item.file)
        if other != item.file:
            yield f"{item.file}: {item.kind.key}: {item.key!r} is already in {other}."


def describe(value: object) -> str:
    kinds = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number")
