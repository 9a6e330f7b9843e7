"""Imports files into rows of applications and deployments: all or nothing, repeatable.

Each row keeps a hash of its last import. A row that differs from it was edited by an operator and
is not overwritten.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from django.core.exceptions import ValidationError
from django.db import models, transaction

from apps.catalog.application_files.models import managed_directory_of
from apps.catalog.application_files.parts import (
    save_cases,
    save_skills,
    save_source,
    skill_changes,
    source_of,
)
from apps.catalog.application_files.yaml_text import nearest_line
from apps.catalog.extraction import extract, revealed
from apps.catalog.history.actors import Actor, acting
from apps.catalog.history.differences import Difference, differences
from apps.catalog.history.kinds import kind_of
from apps.catalog.icons.images import keep_image
from apps.catalog.models import Application, Change
from apps.catalog.row_directories import read_directories
from apps.catalog.row_files import ContentFile, ContentInvalid
from apps.catalog.versions.drafts import WRITTEN
from apps.catalog.versions.publishing_requests import AT_ONCE, is_required
from apps.catalog.versions.recorder import Publication
from apps.manifest.problems import ROOT
from apps.workspace.model_capabilities import FLAGS

Action = Literal["created", "updated", "unchanged", "kept", "refused"]
"""`kept`: an operator has changed the row. `refused`: two people publish it."""
UNTOUCHED = ("kept", "refused")


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """`differences` are those of the file from the row as it was, none for a new row."""

    item: ContentFile
    row: models.Model
    action: Action
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportReport:
    outcomes: tuple[ImportedFile, ...]
    warnings: tuple[str, ...]


def import_directories(
    *directories: Path, overwrite: bool = False, dry_run: bool = False
) -> ImportReport:
    """Import every file, or none if any is invalid; of one row the last directory's.

    `overwrite` also replaces rows that an operator has changed; `dry_run` saves nothing. Raises
    `ContentInvalid`.
    """
    items = fallbacks_first(read_directories(directories))
    return import_items(items, overwrite=overwrite, dry_run=dry_run)


def import_items(
    items: Iterable[ContentFile], *, overwrite: bool = False, dry_run: bool = False
) -> ImportReport:
    """All or none. Raises `ContentInvalid`."""
    problems: list[str] = []
    outcomes: list[ImportedFile] = []
    warnings: list[str] = []
    with transaction.atomic():
        for item in items:
            try:
                with acting(Actor(None, Change.Via.IMPORT, item.file)):
                    outcome = import_item(item, overwrite=overwrite)
                    problems += case_problems(outcome, overwrite=overwrite)
            except ValidationError as error:
                problems += validation_problems(item, error)
            else:
                outcomes.append(outcome)
                if outcome.action == "refused":
                    warnings.append(problem_line(item, "", AT_ONCE))
                elif outcome.action != "kept":
                    warnings += row_warnings(item, outcome.row)
        if problems:
            raise ContentInvalid(tuple(problems))
        transaction.set_rollback(dry_run)
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


def import_item(item: ContentFile, *, overwrite: bool, directory: str = "") -> ImportedFile:
    """`directory` is the managed one that the file belongs to, "" for a single import.

    Raises `ValidationError`, also for a row that would be kept.
    """
    rows = item.kind.model._default_manager
    row: Any = rows.select_for_update().filter(**{item.kind.key: item.key}).first()
    offered = checked(item, row)
    if row is None:
        save_file(item, offered)
        save_parts(item, offered)
        return ImportedFile(item, offered, "created")
    skills = skill_changes(row, item.parts)
    action = action_on(row, item, overwrite=overwrite)
    if is_of_other_directory(row, directory):
        action = "kept"
    elif action == "unchanged" and skills:
        action = "updated"
    if action == "updated" and not directory and is_for_two(row, item, skills):
        action = "refused"
    found = (*column_differences(row, item), *skills) if action != "unchanged" else ()
    if action == "updated":
        row.is_from_files = bool(directory)  # those are reviewed where they are kept
        save_file(item, row)
    elif action == "unchanged" and row.imported_hash != (present := stamp(row, item)):
        rows.filter(pk=row.pk).update(imported_hash=present)  # no new version: nothing has changed
    if action not in UNTOUCHED:
        save_parts(item, row)
    return ImportedFile(item, row, action, found)


def is_for_two(row: Any, item: ContentFile, skills: Sequence[object]) -> bool:
    """Whether the file would publish at once what takes two people."""
    if not isinstance(row, Application) or not is_required(row):
        return False
    written = (name for name in WRITTEN if name in item.fields)
    return bool(skills) or any(item.fields[name] != getattr(row, name) for name in written)


def checked(item: ContentFile, row: Any) -> Any:
    """A valid row as the file has it, to be saved if there is none. Raises `ValidationError`."""
    offered = item.kind.model(**{item.kind.key: item.key}, **item.fields)
    if isinstance(offered, Application):
        offered.secrets_may_be_missing = offered.is_from_files = True
    if row is not None:
        offered.pk, offered._state.adding = row.pk, False
    offered.full_clean()
    return offered


def save_file(item: ContentFile, row: Any) -> None:
    is_application = isinstance(row, Application)
    if is_application and item.parts is not None:
        row.own_skills = item.parts.skills
        if row.pk is not None and skill_changes(row, item.parts):
            row.publication = Publication(f"Imported {item.file}")
    stored = [row.manifest] if is_application and row.pk is not None else []
    for column, value in item.fields.items():
        setattr(row, column, value)
    if is_application:
        row.manifest = extract(row.manifest, stored).document
    row.imported_hash = stamp(row, item)
    row.save()


def save_parts(item: ContentFile, row: Any) -> None:
    """Save what the files of an application have beside its columns."""
    if item.parts is None:
        return
    if item.parts.icon is not None:
        keep_image(item.parts.icon)
    if skill_changes(row, item.parts):
        save_skills(row, item.parts.skills)
    source = source_of(row)
    if source is None or source.text != item.parts.source:
        save_source(row, item.parts.source)


def case_problems(outcome: ImportedFile, *, overwrite: bool) -> list[str]:
    """Save the cases of the files, and tell what is wrong with those that cannot be."""
    row = outcome.row
    if outcome.action in UNTOUCHED or not isinstance(row, Application):
        return []
    return case_problems_of(outcome.item, row, overwrite=overwrite)


def case_problems_of(item: ContentFile, row: Application, *, overwrite: bool) -> list[str]:
    folder = item.file.rpartition("/")[0]
    cases = item.parts.cases if item.parts is not None else {}
    found = save_cases(row, cases, overwrite=overwrite)
    return [f"{folder}/{problem}" for problem in found]


def is_of_other_directory(row: models.Model, directory: str) -> bool:
    """Whether a managed directory has the application, and not this one."""
    return isinstance(row, Application) and managed_directory_of(row.pk) not in ("", directory)


def column_differences(row: Any, item: ContentFile) -> list[Difference]:
    """How the file would change the row. Credentials are masked."""
    kind = kind_of(item.kind.model)
    before = {column: kind.value(row, column) for column in item.fields}
    offered = item.kind.model(**item.fields)
    after = {column: kind.value(offered, column) for column in item.fields}
    return [
        replace(found, path=f"{item.kind.written(top)}{found.path.removeprefix(top)}")
        for found in differences(before, after)
        for top in [re.split(r"[.\[]", found.path)[0]]
    ]


def action_on(row: Any, item: ContentFile, *, overwrite: bool) -> Action:
    columns = columns_of(row, item)
    if row.imported_hash == stamp(row, item):
        return "unchanged"
    if digest(revealed_columns(columns)) == digest(revealed_columns(item.fields)):
        return "unchanged"
    is_untouched = row.imported_hash[:HALF] == half(columns)
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
    line = f"line {nearest_line(item.lines, name)}" if item.lines else ""
    return ": ".join(part for part in (item.file, line, name, message) if part)
