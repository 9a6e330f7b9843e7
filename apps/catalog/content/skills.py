"""Reads the predefined skills, which all applications offer, and finds their problems."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from apps.catalog.content.items import LayerItem
from apps.catalog.content.layers import MOST_CONTENTS, Content
from apps.manifest.markdown.skill_document import InstalledSkill, SkillInvalid, read_skill_document
from apps.manifest.markdown.skill_files import SKILL_FILE, bundle_files


@lru_cache(maxsize=MOST_CONTENTS)
def installed_skills(content: Content) -> tuple[InstalledSkill, ...]:
    """Return the usable predefined skills, sorted by name, cached for each immutable `Content`
    object.
    """
    return tuple(found for item in content.items["skill"].values() if (found := usable_skill(item)))


def usable_skill(item: LayerItem) -> InstalledSkill | None:
    """Return the skill in a predefined item, or None if it cannot be used. See `skill_problems` for
    the reasons.
    """
    try:
        document = read_skill_document(item.text)
    except SkillInvalid:
        return None
    if item.problem or document.name != item.name:
        return None
    return InstalledSkill(document, item.text, bundle_files(beside(item)).files)


def skill_problems(item: LayerItem) -> Iterator[str]:
    """Yield the reasons why a predefined skill cannot be used, in the form `file: key: error`."""
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
    yield from map(str, bundle_files(beside(item)).problems)


def beside(item: LayerItem) -> Mapping[str, str | bytes]:
    return {path: text for path, text in item.value.items() if path != SKILL_FILE}
