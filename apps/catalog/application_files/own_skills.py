"""The skills of one application among the predefined ones, before which they go."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from apps.catalog.application_files.models import ApplicationSkill
from apps.catalog.content.items import item_of
from apps.catalog.content.layers import Content
from apps.manifest.problems import Problem
from apps.manifest.skill_document import SkillInvalid, read_skill_document
from apps.manifest.skill_files import SKILL_FILE, bundled

LAYER = "application"
SKILLS = "skills"
"""The folder among the files of an application."""
Skills = Mapping[str, Mapping[str, str]]
"""The texts of each skill by their paths, as a folder has them."""


def skills_of(number: int | None) -> dict[str, dict[str, str]]:
    """The stored skills of the application with this id."""
    return {} if number is None else skills_by_application([number]).get(number, {})


def skills_by_application(numbers: Any) -> dict[int, dict[str, dict[str, str]]]:
    """The stored skills of several applications, which are ids or a query for them."""
    found: dict[int, dict[str, dict[str, str]]] = {}
    for row in ApplicationSkill.objects.filter(application__in=numbers):
        texts = {SKILL_FILE: row.text, **row.files}
        found.setdefault(row.application_id, {})[row.name] = texts
    return found


def own_skills_of(row: Any) -> Skills:
    """Those that the application is given to be saved with or tried with; else the stored ones."""
    given: Skills | None = row.own_skills
    return skills_of(row.pk) if given is None else given


def with_own_skills(content: Content, skills: Skills) -> Content:
    """A copy of the content with the skills on top; the content itself if there are none."""
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
    """Paths are those of the files, such as `skills/tone/SKILL.md`."""
    for name, texts in skills.items():
        place = f"{SKILLS}/{name}"
        if SKILL_FILE not in texts:
            yield Problem(place, f"there is no {SKILL_FILE} in the folder.")
            continue
        document = f"{place}/{SKILL_FILE}"
        try:
            read = read_skill_document(texts[SKILL_FILE])
        except SkillInvalid as error:
            yield from (Problem(document, str(problem)) for problem in error.problems)
        else:
            if read.name != name:
                yield Problem(document, f"name: is {read.name!r}, its folder {name!r}.")
        beside = {path: text for path, text in texts.items() if path != SKILL_FILE}
        for problem in bundled(beside).problems:
            yield Problem(f"{place}/{problem.path}", problem.message)
