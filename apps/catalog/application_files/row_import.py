"""Imports files into the database rows of applications and deployments: all files or none.
Repeating an import changes nothing, and an import does not overwrite what an operator has edited.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction

from apps.catalog.actions.save_rules import Circumstances, check_row
from apps.catalog.application_files.models import managed_directory_of
from apps.catalog.application_files.parts import (
    save_cases,
    save_skills,
    save_source,
    skill_changes,
    source_of,
)
from apps.catalog.application_files.row_directories import read_directories
from apps.catalog.application_files.row_files import ContentFile, ContentInvalid
from apps.catalog.application_files.row_stamps import has_same_values, is_untouched, stamp
from apps.catalog.application_files.yaml_text import nearest_line
from apps.catalog.extraction import extract
from apps.catalog.field_problems import field_problems
from apps.catalog.history.actors import Actor, acting
from apps.catalog.history.differences import ValueDifference, differences
from apps.catalog.history.recorded_models import row_kind
from apps.catalog.icons.images import keep_image
from apps.catalog.models import Application, Change
from apps.catalog.review.manifests import review_manifest
from apps.catalog.versions.definitions import COLUMNS
from apps.catalog.versions.publishing_requests import AT_ONCE, is_required
from apps.catalog.versions.version_recorder import save_live
from apps.manifest.problems import ROOT

Action = Literal["created", "updated", "unchanged", "kept", "refused"]
"""The result of importing a file. `kept`: not imported, because an operator has changed the row.
`refused`: not imported, because two users must publish the application.
"""
UNTOUCHED = ("kept", "refused")


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """The result of importing one file. `differences` compares the old row with the file, and is
    empty for a new row.
    """

    item: ContentFile
    row: models.Model
    action: Action
    differences: tuple[ValueDifference, ...] = ()


@dataclass(frozen=True, slots=True)
class RowImportReport:
    outcomes: tuple[ImportedFile, ...]
    warnings: tuple[str, ...]


def import_directories(
    *directories: Path, overwrite: bool = False, dry_run: bool = False
) -> RowImportReport:
    """Import the files in all directories, or none if any file is invalid. If several directories
    define the same row, the last one wins.

    `overwrite` also replaces rows that an operator has changed. `dry_run` saves nothing. Raises
    `ContentInvalid` with all errors.
    """
    items = fallbacks_first(read_directories(directories))
    try:
        return import_items(items, overwrite=overwrite, dry_run=dry_run)
    except IntegrityError:
        # Another process has just imported the same rows.
        return import_items(items, overwrite=overwrite, dry_run=dry_run)


def import_items(
    items: Sequence[ContentFile], *, overwrite: bool, dry_run: bool
) -> RowImportReport:
    """Import all files or none. Raises `ContentInvalid` with all errors, and `IntegrityError` if
    another process has just created one of the rows.
    """
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
                    warnings.append(problem_line(item, "", "", AT_ONCE))
                elif outcome.action != "kept":
                    warnings += row_warnings(item, outcome.row)
        if problems:
            raise ContentInvalid(tuple(problems))
        transaction.set_rollback(dry_run)
    return RowImportReport(tuple(outcomes), tuple(warnings))


def fallbacks_first(items: Sequence[ContentFile]) -> list[ContentFile]:
    """Sort the files so that each deployment comes after its fallback deployments, which must exist
    when it is saved.
    """
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
    """Import one file. `directory` is its managed directory, or "".

    Raises `ValidationError` if the file is invalid, even if the row would not change.
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
    if action == "updated" and not directory and needs_two_publishers(row, item, skills):
        action = "refused"
    found = (*column_differences(row, item), *skills) if action != "unchanged" else ()
    if action == "updated":
        save_file(item, row)
    elif action == "unchanged" and row.imported_hash != (present := stamp(row, item)):
        # No new version is stored, because nothing has changed.
        rows.filter(pk=row.pk).update(imported_hash=present)
    if action not in UNTOUCHED:
        save_parts(item, row)
    return ImportedFile(item, row, action, found)


def needs_two_publishers(row: Any, item: ContentFile, skills: Sequence[object]) -> bool:
    """Return True if the import would publish an application that two users must publish."""
    if not isinstance(row, Application) or not is_required(row):
        return False
    written = (name for name in COLUMNS if name in item.fields)
    return bool(skills) or any(item.fields[name] != getattr(row, name) for name in written)


def checked(item: ContentFile, row: Any) -> Any:
    """Return an unsaved row with the values of the file. `row` is the stored row, or None. Raises
    `ValidationError` if a value is invalid.
    """
    offered = item.kind.model(**{item.kind.key: item.key}, **item.fields)
    if row is not None:
        offered.pk, offered._state.adding = row.pk, False
    if isinstance(offered, Application):
        check_row(offered, Circumstances(is_from_files=True, secrets_may_be_missing=True))
    else:
        offered.full_clean()
    return offered


def save_file(item: ContentFile, row: Any) -> None:
    stored = [row.manifest] if isinstance(row, Application) and row.pk is not None else []
    for column, value in item.fields.items():
        setattr(row, column, value)
    if not isinstance(row, Application):
        row.imported_hash = stamp(row, item)
        row.save()
        return
    row.manifest = extract(row.manifest, stored).document
    row.imported_hash = stamp(row, item)
    skills = item.parts.skills if skill_changes(row, item.parts) and item.parts else None
    note = f"Imported {item.file}" if stored and skills is not None else ""
    save_live(row, note=note, skills=skills)


def save_parts(item: ContentFile, row: Any) -> None:
    """Save the parts of an imported application that are not columns of its row: the icon, the
    skills and the source text.
    """
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
    """Save the test cases of an imported application. Return the problems with invalid test cases."""
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
    return isinstance(row, Application) and managed_directory_of(row.pk) not in ("", directory)


def column_differences(row: Any, item: ContentFile) -> list[ValueDifference]:
    """Return the changes that importing the file would make to the row. Credentials are masked."""
    kind = row_kind(item.kind.model)
    before = {column: kind.value(row, column) for column in item.fields}
    offered = item.kind.model(**item.fields)
    after = {column: kind.value(offered, column) for column in item.fields}
    return [
        replace(found, path=f"{item.kind.written(top)}{found.path.removeprefix(top)}")
        for found in differences(before, after)
        for top in [re.split(r"[.\[]", found.path)[0]]
    ]


def action_on(row: Any, item: ContentFile, *, overwrite: bool) -> Action:
    if row.imported_hash == stamp(row, item) or has_same_values(row, item):
        return "unchanged"
    return "updated" if overwrite or is_untouched(row, item) else "kept"


def validation_problems(item: ContentFile, error: ValidationError) -> Iterator[str]:
    for found in field_problems(error):
        name = item.kind.written(found.field) if found.field else ""
        yield problem_line(item, name, found.path, found.message)


def row_warnings(item: ContentFile, row: models.Model) -> Iterator[str]:
    if isinstance(row, Application):
        for problem in review_manifest(row.manifest, secrets_may_be_missing=True).warnings:
            yield problem_line(item, "manifest", problem.path, problem.message)


def problem_line(item: ContentFile, name: str, path: str, message: str) -> str:
    """Format a problem as one line, such as `application/demo.json: manifest.contexts[0]: …`."""
    if path not in ("", ROOT):
        name = f"{name}{path}" if path.startswith("[") else f"{name}.{path}"
    line = f"line {nearest_line(item.lines, name)}" if item.lines else ""
    return ": ".join(part for part in (item.file, line, name, message) if part)
