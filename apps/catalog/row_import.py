"""Imports files into rows of applications and deployments: all or nothing, repeatable.

Each row keeps a hash of its last import. A row that differs from it was edited by an operator and
is not overwritten.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from django.core.exceptions import ValidationError
from django.db import models, transaction

from apps.catalog.extraction import extract, revealed
from apps.catalog.history.actors import Actor, acting
from apps.catalog.models import Application, Change
from apps.catalog.row_files import ContentFile, ContentInvalid, read_directories
from apps.manifest.problems import ROOT
from apps.workspace.model_capabilities import FLAGS

Action = Literal["created", "updated", "unchanged", "kept"]
"""`kept`: an operator has changed the row."""


@dataclass(frozen=True, slots=True)
class ImportedFile:
    item: ContentFile
    action: Action


@dataclass(frozen=True, slots=True)
class ImportReport:
    outcomes: tuple[ImportedFile, ...]
    warnings: tuple[str, ...]


def import_directories(*directories: Path, overwrite: bool = False) -> ImportReport:
    """Import every file, or none if any is invalid; of one row the last directory's.

    `overwrite` also replaces rows that an operator has changed. Raises `ContentInvalid`.
    """
    problems: list[str] = []
    outcomes: list[ImportedFile] = []
    warnings: list[str] = []
    with transaction.atomic():
        for item in fallbacks_first(read_directories(directories)):
            try:
                with acting(Actor(None, Change.Via.IMPORT, item.file)):
                    row, action = import_item(item, overwrite=overwrite)
            except ValidationError as error:
                problems += validation_problems(item, error)
            else:
                outcomes.append(ImportedFile(item, action))
                if action != "kept":
                    warnings += row_warnings(item, row)
        if problems:
            raise ContentInvalid(tuple(problems))
    return ImportReport(tuple(outcomes), tuple(warnings))


def fallbacks_first(items: Sequence[ContentFile]) -> list[ContentFile]:
    """In their order, but deployments behind their fallbacks, which have to be there by then."""
    by_name = {(item.kind.name, item.key): item for item in items}
    placed: dict[tuple[str, str], ContentFile] = {}

    def place(name: tuple[str, str], above: frozenset[tuple[str, str]]) -> None:
        if name not in by_name or name in placed or name in above:
            return
        for fallback in by_name[name].fields.get("fallbacks") or ():
            place((name[0], fallback), above | {name})
        placed[name] = by_name[name]

    for name in by_name:
        place(name, frozenset())
    return list(placed.values())


def import_item(item: ContentFile, *, overwrite: bool) -> tuple[models.Model, Action]:
    """Raises `ValidationError`, also for a row that would be kept."""
    rows = item.kind.model._default_manager
    row: Any = rows.select_for_update().filter(**{item.kind.key: item.key}).first()
    offered = item.kind.model(**{item.kind.key: item.key}, **item.fields)
    if isinstance(offered, Application):
        offered.secrets_may_be_missing = True
    if row is not None:
        offered.pk, offered._state.adding = row.pk, False
    offered.full_clean()
    action: Action = "created"
    if row is None:
        row = offered
    else:
        action = action_on(row, item, overwrite=overwrite)
    if action in ("created", "updated"):
        stored = [row.manifest] if action == "updated" and isinstance(row, Application) else []
        for column, value in item.fields.items():
            setattr(row, column, value)
        if isinstance(row, Application):
            row.manifest = extract(row.manifest, stored).document
        row.imported_hash = stamp(row, item)
        row.save()
    elif action == "unchanged" and row.imported_hash != (present := stamp(row, item)):
        rows.filter(pk=row.pk).update(imported_hash=present)  # no new version: nothing has changed
    return row, action


def action_on(row: Any, item: ContentFile, *, overwrite: bool) -> Action:
    columns = columns_of(row, item)
    present = digest(revealed_columns(columns))
    if row.imported_hash == stamp(row, item) or present == digest(revealed_columns(item.fields)):
        return "unchanged"
    # Earlier versions kept the hash of the columns, with the credentials in them.
    is_untouched = row.imported_hash == present or row.imported_hash[:HALF] == half(columns)
    return "updated" if overwrite or is_untouched else "kept"


def columns_of(row: Any, item: ContentFile) -> dict[str, Any]:
    return {column: getattr(row, column) for column in item.fields}


def stamp(row: Any, item: ContentFile) -> str:
    """A hash of the row and one of the file, whose credentials may be secrets in the row.

    Rotating a secret changes neither.
    """
    return half(columns_of(row, item)) + half(item.fields)


def revealed_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {column: revealed(value) for column, value in columns.items()}


def half(fields: Mapping[str, Any]) -> str:
    return digest(fields)[:HALF]


HALF = 32
"""Characters of a stamp about the row; as many are about the file."""


def digest(fields: Mapping[str, Any]) -> str:
    """A hash of the columns that say something, so that adding a column to the model changes nothing."""
    used = {
        column: value
        for column, value in fields.items()
        if (value not in EMPTY or (value is False and column in MEANT_NO))
        and ADDED.get(column) != value
    }
    text = json.dumps(used, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


EMPTY: Sequence[object] = ("", None, False, [], {})
MEANT_NO = {*FLAGS, "is_shared"}
"""Columns where no means more than nothing."""
ADDED: Mapping[str, object] = {"kind": "chat", "text_tools": True, "is_shared": True}
"""Columns of later versions, with the value that rows of earlier ones have."""


def validation_problems(item: ContentFile, error: ValidationError) -> Iterator[str]:
    for column, messages in error.message_dict.items():
        name = "" if column == "__all__" else item.kind.written(column)
        for message in messages:
            yield problem_line(item, name, message)


def row_warnings(item: ContentFile, row: models.Model) -> Iterator[str]:
    if isinstance(row, Application):
        row.secrets_may_be_missing = True
        for problem in row.review().warnings:
            yield problem_line(item, "manifest", str(problem))


def problem_line(item: ContentFile, name: str, message: str) -> str:
    """`application/demo.json: manifest.contexts[0]: …`. Messages on manifests begin with a path."""
    if name == "manifest" and ": " in message:
        path, _, rest = message.partition(": ")
        separator = "" if path.startswith("[") else "."
        name, message = ("manifest" if path == ROOT else f"manifest{separator}{path}"), rest
    return ": ".join(part for part in (item.file, name, message) if part)
