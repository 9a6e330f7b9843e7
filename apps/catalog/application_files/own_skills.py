"""The skills of one application among the predefined ones, before which they go."""

from collections.abc import Mapping
from dataclasses import replace

from apps.catalog.application_files.models import ApplicationSkill
from apps.catalog.content.items import item_of
from apps.catalog.content.layers import Content
from apps.manifest.skill_files import SKILL_FILE

LAYER = "application"
Skills = Mapping[str, Mapping[str, str]]
"""The texts of each skill by their paths, as a folder has them."""


def skills_of(number: int | None) -> dict[str, dict[str, str]]:
    """The skills of the application with this id."""
    rows = ApplicationSkill.objects.filter(application=number) if number is not None else ()
    return {row.name: {SKILL_FILE: row.text, **row.files} for row in rows}


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
