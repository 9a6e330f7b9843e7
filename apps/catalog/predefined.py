"""Content from files becomes rows: all or nothing, as often as you like, never over an operator.

Each row remembers what was last imported into it. A row that differs from that was edited since,
and stays as it is.
"""

from __future__ import annotations

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
from apps.catalog.row_files import (
    ContentInvalid,
    Item,
    read_directories,
    read_directory,
)
from apps.manifest.problems import ROOT

Action = Literal["created", "updated", "unchanged", "kept"]
"""`kept`: an operator has changed it, so it was left alone."""


@dataclass(frozen=True, slots=True)
class Outcome:
    item: Item
    action: Action


@dataclass(frozen=True, slots=True)
class Report:
    outcomes: tuple[Outcome, ...]
    warnings: tuple[str, ...]


def import_directory(directory: Path, *, overwrite: bool = False) -> Report:
    """Import every file; nothing is saved unless everything is valid. Raises `ContentInvalid`.

    `overwrite` also replaces what an operator has changed.
    """
    return import_items(read_directory(directory), overwrite=overwrite)


def import_layers(directories: Sequence[Path], *, overwrite: bool = False) -> Report:
    """The same for several directories; of one row a later one brings what counts."""
    return import_items(read_directories(directories), overwrite=overwrite)


def import_items(items: Sequence[Item], *, overwrite: bool) -> Report:
    """Raises `ContentInvalid`."""
    problems: list[str] = []
    outcomes: list[Outcome] = []
    warnings: list[str] = []
    with transaction.atomic():
        for item in items:
            try:
                with acting(Actor(None, Change.Via.IMPORT, item.file)):
                    row, action = import_item(item, overwrite=overwrite)
            except ValidationError as error:
                problems += validation_problems(item, error)
            else:
                outcomes.append(Outcome(item, action))
                if action != "kept":
                    warnings += row_warnings(item, row)
        if problems:
            raise ContentInvalid(tuple(problems))
    return Report(tuple(outcomes), tuple(warnings))


def import_item(item: Item, *, overwrite: bool) -> tuple[models.Model, Action]:
    """Raises `ValidationError`, also for a row that would not be touched."""
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
        action = change(row, item, overwrite=overwrite)
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


def change(row: Any, item: Item, *, overwrite: bool) -> Action:
    columns = columns_of(row, item)
    present = digest(revealed_columns(columns))
    if row.imported_hash == stamp(row, item) or present == digest(revealed_columns(item.fields)):
        return "unchanged"
    # Earlier versions kept the hash of the columns, with the credentials in them.
    is_untouched = row.imported_hash == present or row.imported_hash[:HALF] == half(columns)
    return "updated" if overwrite or is_untouched else "kept"


def columns_of(row: Any, item: Item) -> dict[str, Any]:
    return {column: getattr(row, column) for column in item.fields}


def stamp(row: Any, item: Item) -> str:
    """What was imported: the row that it made and the file, which may hold credentials as text.

    A secret that was made of one may be rotated since; that changes neither.
    """
    return half(columns_of(row, item)) + half(item.fields)


def revealed_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {column: revealed(value) for column, value in columns.items()}


def half(fields: Mapping[str, Any]) -> str:
    return digest(fields)[:HALF]


HALF = 32
"""Of the 64 characters of a stamp, those that are about the row."""


def digest(fields: Mapping[str, Any]) -> str:
    """A hash of the columns; empty ones do not count, so that a new column changes nothing."""
    said = {column: value for column, value in fields.items() if value not in EMPTY}
    written = json.dumps(said, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()


EMPTY: Sequence[object] = ("", None, False, [], {})


def validation_problems(item: Item, error: ValidationError) -> Iterator[str]:
    for column, messages in error.message_dict.items():
        name = "" if column == "__all__" else item.kind.written(column)
        for message in messages:
            yield line(item, name, message)


def row_warnings(item: Item, row: models.Model) -> Iterator[str]:
    if isinstance(row, Application):
        row.secrets_may_be_missing = True
        for problem in row.review().warnings:
            yield line(item, "manifest", f"{problem.path}: {problem.message}")


def line(item: Item, name: str, message: str) -> str:
    """`application/demo.json: manifest.contexts[0]: …`; a message may begin with its own path."""
    if name == "manifest" and ": " in message:
        path, _, rest = message.partition(": ")
        separator = "" if path.startswith("[") else "."
        name, message = ("manifest" if path == ROOT else f"manifest{separator}{path}"), rest
    return ": ".join(part for part in (item.file, name, message) if part)
