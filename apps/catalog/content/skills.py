"""Predefined skills: the usable ones, which every application is offered, and mistakes in them."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from apps.catalog.content.items import Item
from apps.catalog.content.layers import MOST_CONTENTS, Content
from apps.manifest.skill_document import InstalledSkill, SkillInvalid, read_skill_document
from apps.manifest.skill_files import SKILL_FILE, bundled


@lru_cache(maxsize=MOST_CONTENTS)
def installed_skills(content: Content) -> tuple[InstalledSkill, ...]:
    """The usable skills in force, by name. Cached, because content never changes."""
    return tuple(found for item in content.items["skill"].values() if (found := usable_skill(item)))


def usable_skill(item: Item) -> InstalledSkill | None:
    """None for a skill that cannot be used, as `skill_problems` explains."""
    try:
        document = read_skill_document(item.text)
    except SkillInvalid:
        return None
    if item.problem or document.name != item.name:
        return None
    return InstalledSkill(document, item.text, bundled(beside(item)).files)


def skill_problems(item: Item) -> Iterator[str]:
    """`file: key: mistake`"""
    try:
        document = read_skill_document(item.text)
    except SkillInvalid as error:
        for problem in error.problems:
            yield str(problem) if problem.path == SKILL_FILE else f"{SKILL_FILE}: {problem}"
    else:
        if document.name != item.name:
            where = "row" if item.is_row else "directory"
            yield (
                f"{SKILL_FILE}: name: is '{document.name}', but its {where} is named "
                f"'{item.name}'; give both the same name"
            )
    yield from map(str, bundled(beside(item)).problems)


def beside(item: Item) -> Mapping[str, str | bytes]:
    return {path: text for path, text in item.value.items() if path != SKILL_FILE}
