"""Saves and reads the parts of an application that are not in its row: its skills, its test cases,
and the text from which it was imported.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import models

from apps.catalog.application_files.models import ApplicationSkill, ApplicationSource
from apps.catalog.application_files.reader import CASES
from apps.catalog.application_files.row_files import ApplicationParts
from apps.catalog.application_files.yaml_text import parse_yaml_text
from apps.catalog.history.differences import ValueDifference, differences
from apps.catalog.models import Application
from apps.catalog.own_skills import Skills, skills_of
from apps.listeners import Listeners
from apps.manifest.markdown.skill_files import SKILL_FILE

case_documents = Listeners[[Application, bool], Iterable[Mapping[str, Any]]]("an export")
"""Each listener returns the test cases of an application. If the flag is True, the result includes
test cases that were created from real runs.
"""
case_savers = Listeners[[Application, Mapping[str, Any], bool], None]("an import")
"""Each listener saves one test case of an application, and raises `ValueError` if it is invalid. If
the flag is True, an existing test case with the same name is replaced.
"""


def source_of(application: Application) -> ApplicationSource | None:
    return ApplicationSource.objects.filter(application=application).first()


def skill_changes(row: models.Model, parts: ApplicationParts | None) -> list[ValueDifference]:
    """Return the differences between an application's stored skills and its imported skills."""
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
    """Save an application's test cases, and return a problem for each one that could not be saved.

    `cases` maps the file names in `cases/` to their texts. With `overwrite`, replace existing test
    cases.
    """
    problems: list[str] = []
    for name, text in cases.items():
        try:
            document = parse_yaml_text(text).value
            if not isinstance(document, dict):
                raise ValueError("write keys and values, such as 'name: A greeting'.")
            case_savers.call(application, document, overwrite)
        except ValueError as error:
            problems += [f"{CASES}/{name}: {line}" for line in str(error).splitlines()]
    return problems


def save_source(application: Application, text: str, directory: str = "", digest: str = "") -> None:
    ApplicationSource.objects.update_or_create(
        application=application,
        defaults={"text": text, "directory": directory, "digest": digest},
    )
