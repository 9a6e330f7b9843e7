"""Saves and reads what belongs to an application beside its columns: its text, skills and cases."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import models

from apps.catalog.application_files.models import ApplicationSkill, ApplicationSource
from apps.catalog.application_files.own_skills import Skills, skills_of
from apps.catalog.application_files.reader import CASES
from apps.catalog.application_files.yaml_text import parse
from apps.catalog.history.differences import Difference, differences
from apps.catalog.models import Application
from apps.catalog.row_files import ApplicationParts
from apps.manifest.skill_files import SKILL_FILE


@dataclass(frozen=True, slots=True)
class CaseFiles:
    """How the room of cases, which is above this one, writes and reads them.

    `documents` are those of an application, with the ones made of real runs if asked for. `save`
    keeps one; a case of its name is replaced if asked for. It raises ValueError.
    """

    documents: Callable[[Application, bool], Iterable[Mapping[str, Any]]]
    save: Callable[[Application, Mapping[str, Any], bool], None]


_connected: list[CaseFiles] = []


def connect_cases(cases: CaseFiles) -> None:
    """Called once, when the room of cases is ready."""
    _connected[:] = [cases]


def connected_cases() -> CaseFiles | None:
    return _connected[0] if _connected else None


def source_of(application: Application) -> ApplicationSource | None:
    return ApplicationSource.objects.filter(application=application).first()


def skill_changes(row: models.Model, parts: ApplicationParts | None) -> list[Difference]:
    """How the skills of the files differ from those of an application."""
    if parts is None or not isinstance(row, Application):
        return []
    return list(differences(skills_of(row.pk), dict(parts.skills), "skills"))


def save_skills(application: Application, skills: Skills) -> None:
    ApplicationSkill.objects.filter(application=application).delete()
    ApplicationSkill.objects.bulk_create(
        ApplicationSkill(
            application=application,
            name=name,
            text=texts[SKILL_FILE],
            files={path: text for path, text in texts.items() if path != SKILL_FILE},
        )
        for name, texts in skills.items()
    )


def save_cases(application: Application, cases: Mapping[str, str], *, overwrite: bool) -> list[str]:
    """Save the cases of `cases/*.yaml`; the problems of those that cannot be."""
    room = connected_cases()
    problems = ["cases: this installation keeps no cases."] if cases and room is None else []
    for name, text in cases.items() if room is not None else ():
        try:
            document = parse(text).value
            if not isinstance(document, dict):
                raise ValueError("write keys and values, such as 'name: A greeting'.")
            room.save(application, document, overwrite)  # type: ignore[union-attr]
        except ValueError as error:
            problems += [f"{CASES}/{name}: {line}" for line in str(error).splitlines()]
    return problems


def save_source(application: Application, text: str, directory: str = "", digest: str = "") -> None:
    ApplicationSource.objects.update_or_create(
        application=application,
        defaults={"text": text, "directory": directory, "digest": digest},
    )
