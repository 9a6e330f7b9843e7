"""Which of the offered tools a question points to, and with what arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from apps.agent.tools import ToolSpec
from apps.demo.clues import Clue, all_clues, read_clauses
from apps.demo.results import tool_title

MOST_CALLS = 8
"""Of one answer; more would only be a wall of stages."""
SHORTEST_KEYWORD = 4
"""Characters from which a word of a description counts, and from which a beginning is as good."""
_NO_KEYWORDS = """
    a about an and any are as at be by can current do does for from get give has have how if in
    information internal into is it long make me my need new no not now of on one or please return s
    say short show some tell text that the then there these this to today two use value want was we
    what when which will with would write you your
"""
NO_KEYWORDS = frozenset(_NO_KEYWORDS.split())
WANTED = (
    (re.compile(r"time_?zone|\bIANA\b", re.IGNORECASE), "place", "zone"),
    (re.compile(r"\bur[il]\b", re.IGNORECASE), "url", "text"),
    (re.compile(r"\bpath\b|\bfile", re.IGNORECASE), "file", "text"),
    (re.compile(r"city|cities|place|location|town|country", re.IGNORECASE), "place", "text"),
    (re.compile(""), "text", "text"),
)
"""Name or description of a text parameter → kind of the clue, and what of it; the first that fits."""

_word = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """`kind` is that of the clue it takes, "" for none; `attribute` is what it takes of the clue."""

    name: str
    schema: Mapping[str, Any]
    is_required: bool
    kind: str = ""
    attribute: str = ""


@dataclass(slots=True)
class Plan:
    """The calls to make; `missing` says which cannot be made, and why."""

    calls: list[Call] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Wish:
    """Tools that are asked about the same things."""

    tools: list[ToolSpec]
    clues: list[Clue]


def plan_calls(
    question: str, tools: Sequence[ToolSpec], choice: object = None, earlier: Sequence[str] = ()
) -> Plan:
    """The calls that a question asks for.

    `choice` is the `tool_choice` of the completion request; `earlier` are the questions before, the
    newest first.
    """
    plan = Plan()
    chosen = [
        tool for tool in tools if choice == {"type": "function", "function": {"name": tool.name}}
    ]
    tools = chosen or tools
    if choice == "none" or not tools:
        return plan
    wishes = read_wishes(question, tools) or go_on(question, tools, earlier)
    if not wishes and (chosen or choice == "required"):
        wishes = [Wish([tools[0]], all_clues(question))]
    for wish in wishes:
        for tool in wish.tools:
            for made in calls_of(tool, wish.clues, question):
                found: list[Any] = plan.calls if isinstance(made, Call) else plan.missing
                if made not in found:
                    found.append(made)
    if len(plan.calls) > MOST_CALLS:
        plan.missing.append(f"I make at most {MOST_CALLS} calls for one question.")
        del plan.calls[MOST_CALLS:]
    return plan


def read_wishes(question: str, tools: Sequence[ToolSpec]) -> list[Wish]:
    """The clues of a clause without a tool belong to the wish before it, or to the first one.

    "The weather and the time in Oslo" is one wish of two tools: those of a clause that mentions
    nothing are asked about what the next one mentions.
    """
    wishes: list[Wish] = []
    before: list[Clue] = []
    for clause in read_clauses(question):
        tool = max(tools, key=lambda one: score(one, clause.words))
        if score(tool, clause.words):
            if wishes and not wishes[-1].clues:
                wishes[-1].tools.append(tool)
            else:
                wishes.append(Wish([tool], [] if wishes else before))
        (wishes[-1].clues if wishes else before).extend(clause.clues)
    return wishes


def go_on(question: str, tools: Sequence[ToolSpec], earlier: Sequence[str]) -> list[Wish]:
    """A question that only mentions other things asks the tools of an earlier one about them."""
    clues = all_clues(question)
    if not clues or any(clause.words - NO_KEYWORDS for clause in read_clauses(question)):
        return []
    wishes = next(filter(None, (read_wishes(text, tools) for text in earlier)), [])
    return [Wish(wish.tools, clues) for wish in wishes]


def score(tool: ToolSpec, words: set[str]) -> int:
    """How much words point to a tool: by its name, or by what its description begins with."""
    name = keywords(tool.name, 1)
    beginning = keywords(tool.description.partition(".")[0], SHORTEST_KEYWORD)
    asked = words - NO_KEYWORDS
    return sum(3 if alike(word, name) else 2 if alike(word, beginning) else 0 for word in asked)


@lru_cache(1_000)
def keywords(text: str, shortest: int) -> frozenset[str]:
    words = {word.casefold() for word in _word.findall(text[:1_000])}
    return frozenset(word for word in words - NO_KEYWORDS if len(word) >= shortest)


def alike(word: str, keywords: frozenset[str]) -> bool:
    """Whether a word is a keyword, or one begins as the other does ("time", "timestamp")."""
    near = (sorted((word, keyword), key=len) for keyword in keywords)
    return word in keywords or any(
        len(short) >= SHORTEST_KEYWORD and long.startswith(short) for short, long in near
    )


def calls_of(tool: ToolSpec, clues: Sequence[Clue], question: str) -> Iterator[Call | str]:
    """One call for each thing that the tool can be asked about; a text says what a call lacks."""
    parameters = parameters_of(tool)
    mentioned = {clue.kind for clue in clues} - {"number"}
    pivot = next((one.kind for one in parameters if one.kind in mentioned), "")
    size = sum(one.kind == pivot and one.is_required for one in parameters) or 1
    subjects = [clue for clue in clues if clue.kind == pivot]
    others = [clue for clue in clues if clue.kind != pivot]
    for start in range(0, len(subjects) or 1, size):
        yield fill(tool, parameters, [*subjects[start : start + size], *others], question)


def parameters_of(tool: ToolSpec) -> list[Parameter]:
    """The required ones first. What is no JSON Schema has none."""
    properties, required = tool.parameters.get("properties"), tool.parameters.get("required")
    found = []
    for name, schema in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(schema, Mapping):
            needed = isinstance(required, list | tuple) and name in required
            found.append(Parameter(name, schema, needed, *wanted(name, schema)))
    return sorted(found, key=lambda one: not one.is_required)


def wanted(name: str, schema: Mapping[str, Any]) -> tuple[str, str]:
    if schema.get("type") in ("integer", "number"):
        return "number", "number"
    if schema.get("type") != "string" or "enum" in schema:
        return "", ""
    told = f"{name} {schema.get('format')} {str(schema.get('description'))[:60]}"
    return next((kind, attribute) for like, kind, attribute in WANTED if like.search(told))


def fill(
    tool: ToolSpec, parameters: Sequence[Parameter], clues: Sequence[Clue], question: str
) -> Call | str:
    """One call, which uses no clue twice, or what it lacks."""
    left, arguments = list(clues), {}
    for one in parameters:
        clue = next((clue for clue in left if clue.kind == one.kind), None)
        if clue is None:
            value = default_for(one, question)
        else:
            left.remove(clue)
            value = getattr(clue, one.attribute)
        if value is not None:
            arguments[one.name] = value
        elif clue is not None:
            return f"I do not know the time {one.attribute} of {clue.text!r}."
        elif one.is_required:
            name = one.name.replace("_", " ")
            return f"**{tool_title(tool.name)}** needs a value for *{name}*, and I found none."
    return Call(tool.name, arguments)


def default_for(parameter: Parameter, question: str) -> Any:
    """The value of a required parameter that has no clue; None for none."""
    options = parameter.schema.get("enum")
    if not parameter.is_required or "default" in parameter.schema:
        return parameter.schema.get("default") if parameter.is_required else None
    if isinstance(options, list | tuple) and options:
        return options[0]
    # Without a path it is the own folder; a search is for the question itself.
    return {"file": "", "text": question.strip()[:500] or None}.get(parameter.kind)
