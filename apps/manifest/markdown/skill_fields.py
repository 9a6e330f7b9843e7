"""Reads the fields in the front matter of skills, agents and chat places."""

import re
from collections.abc import Callable, Mapping

from apps.manifest.markdown.front_matter import Value
from apps.manifest.problems import Problem, join_path

_tool = re.compile(r"[^\s,(]+(?:\([^)]*\))?")


class SkillFields:
    """Reads values from front matter, and collects their problems."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self.values = values
        self.problems: list[Problem] = []

    def text(self, key: str, problem_of: Callable[[str], str]) -> str | None:
        if self.values.get(key) in (None, ""):
            self.wrong(key, f"is missing; write '{key}: …' in the front matter")
            return None
        return self.optional(key, problem_of)

    def optional(self, key: str, problem_of: Callable[[str], str] = lambda text: "") -> str | None:
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            self.wrong(key, f"must be a string, not {kind_of(value)}")
            return None
        found = (value or "").strip()
        if value and (problem := problem_of(found)):
            self.wrong(key, problem)
        return found or None

    def texts_by_key(self, key: str) -> Mapping[str, str] | None:
        value = self.values.get(key)
        if value in (None, ""):
            return None
        if not isinstance(value, dict):
            self.wrong(key, f"must be an object with texts as its values, not {kind_of(value)}")
            return None
        for name, member in value.items():
            if member is not None and not isinstance(member, str):
                self.wrong(join_path(key, name), f"must be a string, not {kind_of(member)}")
        return {name: member for name, member in value.items() if isinstance(member, str)}

    def words(self, key: str) -> tuple[str, ...] | None:
        value = self.values.get(key)
        if value is None or isinstance(value, str):
            return tuple(_tool.findall(value or "")) or None
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            self.wrong(
                key, "must be a list of tool names, or a text with tool names separated by spaces"
            )
            return None
        return tuple(str(word).strip() for word in value) or None

    def wrong(self, path: str, message: str) -> None:
        self.problems.append(Problem(path, message))


def kind_of(value: Value) -> str:
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object"
