"""From what a person mentions to the arguments of calls: one call for each thing asked about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.agent.tools import ToolSpec
from apps.workspace.demo.clues import Clue
from apps.workspace.demo.labels import tool_title, words
from apps.workspace.demo.schemas import Parameter, parameters_of, read_object

DEEPEST = 5
LONGEST_TEXT = 500

_negation = re.compile(r"\b(?:not|no|without|never|don't)\b", re.IGNORECASE)


class Missing(Exception):
    """A call that cannot be made: `tool` needs `parameter`; the text says what is lacking."""

    def __init__(self, tool: str, parameter: str, text: str) -> None:
        super().__init__(text)
        self.tool = tool
        self.parameter = parameter


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    arguments: Mapping[str, Any]


def fill(spec: ToolSpec, clues: Sequence[Clue], text: str) -> Iterator[Call | Missing]:
    """The calls of one tool for everything that is mentioned; at least one, or what it lacks."""
    parameters = parameters_of(spec)
    for mentioned in portions(parameters, clues):
        try:
            yield Call(spec.name, Filling(spec, mentioned, text).read(parameters, 0))
        except Missing as missing:
            yield missing


def portions(parameters: Sequence[Parameter], clues: Sequence[Clue]) -> list[list[Clue]]:
    """The clues of each call: those that the first parameter is asked about are dealt out."""
    pivot = next((p for p in parameters if p.type != "array" and matching(p, clues)), None)
    if pivot is None:
        return [list(clues)]
    subjects = matching(pivot, clues)
    rest = [clue for clue in clues if clue not in subjects]
    rivals = [p for p in parameters if p.is_required and p.wants == pivot.wants]
    size = max(1, len(rivals))
    return [
        [*subjects[start : start + size], *rest]
        for start in range(0, len(subjects), size)
    ]  # fmt: skip


def matching(parameter: Parameter, clues: Sequence[Clue]) -> list[Clue]:
    """The clues that the parameter can take, if it is of a kind that people are asked about."""
    if parameter.takes_any_text and not parameter.is_required:
        return [clue for clue in clues if clue.kind == "quoted"]
    if parameter.wants[:1] == ("zone",):
        return [clue for clue in clues if clue.kind in parameter.wants]
    for kind in parameter.wants:
        if found := [clue for clue in clues if clue.kind == kind]:
            return found
    return []


class Filling:
    """Fills one call; a clue that was used is not used again."""

    def __init__(self, spec: ToolSpec, clues: Sequence[Clue], text: str) -> None:
        self.spec = spec
        self.left = list(clues)
        self.text = text

    def read(self, parameters: Sequence[Parameter], depth: int) -> dict[str, Any]:
        """Raises `Missing`."""
        found = {}
        for parameter in parameters:
            value = self.value(parameter, depth)
            if value is not None:
                found[parameter.name] = value
            elif parameter.is_required and "default" not in parameter.schema:
                raise self.missing(parameter)
        return found

    def value(self, parameter: Parameter, depth: int) -> Any:
        """None when nothing fits."""
        schema = parameter.schema
        if "const" in schema:
            return schema["const"] if parameter.is_required else None
        if isinstance(schema.get("enum"), list | tuple):
            return self.choice(parameter, schema["enum"])
        match parameter.type:
            case "boolean":
                return not _negation.search(self.text) if parameter.is_required else None
            case "object":
                return self.inner(parameter, depth)
            case "array":
                return self.members(parameter) or None
            case _:
                return self.scalar(parameter)

    def choice(self, parameter: Parameter, options: Sequence[Any]) -> Any:
        """The option that is mentioned, else the first of those that have to be chosen from."""
        said = self.text.casefold()
        for option in options:
            if re.search(rf"\b{re.escape(str(option).casefold())}\b", said):
                return option
        needs = parameter.is_required and "default" not in parameter.schema
        return options[0] if needs and options else None

    def inner(self, parameter: Parameter, depth: int) -> Any:
        if not parameter.is_required:
            return None
        if depth >= DEEPEST:
            raise self.missing(parameter)
        return self.read(read_object(parameter.schema, self.spec.parameters), depth + 1)

    def members(self, parameter: Parameter) -> list[Any]:
        items = parameter.schema.get("items")
        kind = items.get("type") if isinstance(items, Mapping) else "string"
        taken = [self.take(clue, parameter, str(kind)) for clue in matching(parameter, self.left)]
        return [value for value in taken if value is not None]

    def scalar(self, parameter: Parameter) -> Any:
        for clue in matching(parameter, self.left):
            value = self.take(clue, parameter, parameter.type)
            if value is not None:
                return value
        if parameter.takes_any_text and parameter.is_required:
            return self.text.strip()[:LONGEST_TEXT] or None
        return None

    def take(self, clue: Clue, parameter: Parameter, kind: str) -> Any:
        """Use the clue up. Raises `Missing` for a place whose zone is wanted and not known."""
        value = value_of(clue, parameter, kind)
        if value is None and parameter.wants[:1] == ("zone",):
            text = f"I do not know the time zone of {clue.text!r}."
            raise Missing(self.spec.name, parameter.name, text)
        if value is not None:
            self.left.remove(clue)
        return value

    def missing(self, parameter: Parameter) -> Missing:
        text = (
            f"**{tool_title(self.spec.name)}** needs a value for *{words(parameter.name)}*, "
            "and I found none."
        )
        return Missing(self.spec.name, parameter.name, text)


def value_of(clue: Clue, parameter: Parameter, kind: str) -> Any:
    if kind == "integer":
        return int(clue.text) if re.fullmatch(r"-?\d+", clue.text) else None
    if kind == "number":
        return float(clue.text) if "." in clue.text else int(clue.text)
    if parameter.wants[:1] == ("zone",):
        return clue.zone or None
    return clue.text
