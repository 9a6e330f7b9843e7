"""Reads the skills of single applications, which override predefined skills with the same name."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from apps.catalog.application_files.models import ApplicationSkill
from apps.catalog.content.items import item_of
from apps.catalog.content.layers import Content
from apps.manifest.markdown.skill_document import SkillInvalid, read_skill_document
from apps.manifest.markdown.skill_files import SKILL_FILE, bundle_files
from apps.manifest.problems import Problem

LAYER = "application"
SKILLS = "skills"
"""The folder of skills among an application's files."""
Skills = Mapping[str, Mapping[str, str]]
"""An application's own skills. Maps the name of each skill to its files by path."""


def skills_of(number: int | None) -> dict[str, dict[str, str]]:
    return {} if number is None else skills_by_application([number]).get(number, {})


def skills_by_application(numbers: Any) -> dict[int, dict[str, dict[str, str]]]:
    """Return the stored skills of the applications with these IDs. `numbers` can also be a query."""
    found: dict[int, dict[str, dict[str, str]]] = {}
    for row in ApplicationSkill.objects.filter(application__in=numbers):
        texts = {SKILL_FILE: row.text, **row.files}
        found.setdefault(row.application_id, {})[row.name] = texts
    return found


def own_skills_of(row: Any, override: Skills | None = None) -> Skills:
    """Return `override`, such as the skills of a draft, or else the application's stored skills."""
    return skills_of(row.pk) if override is None else override


def with_own_skills(content: Content, skills: Skills) -> Content:
    """Add an application's own skills to the predefined content as its top layer. Return `content`
    itself if there are none.
    """
    if not skills:
        return content
    items = {
        name: item_of("skill", name, LAYER, f"{LAYER}: skills/{name}", texts[SKILL_FILE], texts)
        for name, texts in skills.items()
    }
    above = {name: (item,) for name, item in items.items()}
    stacked = dict(sorted({**content.stacks["skill"], **above}.items()))
    return replace(content, stacks={**content.stacks, "skill": stacked})


def skill_problems(skills: Skills) -> Iterator[Problem]:
    """Yield the problems in an application's skills, with paths such as `skills/tone/SKILL.md`."""
    for name, texts in skills.items():
        folder = f"{SKILLS}/{name}"
        if SKILL_FILE not in texts:
            yield Problem(folder, f"the folder contains no {SKILL_FILE}.")
            continue
        document = f"{folder}/{SKILL_FILE}"
        try:
            read = read_skill_document(texts[SKILL_FILE])
        except SkillInvalid as error:
            yield from (Problem(document, str(problem)) for problem in error.problems)
        else:
            if read.name != name:
                yield Problem(document, f"the name is {read.name!r}, but its folder is {name!r}.")
        beside = {path: text for path, text in texts.items() if path != SKILL_FILE}
        for problem in bundle_files(beside).problems:
            yield Problem(f"{folder}/{problem.path}", problem.message)
