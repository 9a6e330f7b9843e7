"""Plan of tool calls for a question: which of the offered tools, with which arguments."""

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
"""Calls of one answer; more would be a wall of stages."""
SHORTEST_KEYWORD = 4
"""Characters that a word of a description, or a common beginning of two words, must have."""
_STOP_WORDS = """
    a about an and any are as at be by can current do does for from get give has have how if in
    information internal into is it long make me my need new no not now of on one or please return s
    say short show some tell text that the then there these this to today two use value want was we
    what when which will with would write you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
PARAMETER_CLUES = (
    (re.compile(r"time_?zone|\bIANA\b", re.IGNORECASE), "place", "zone"),
    (re.compile(r"\bur[il]\b", re.IGNORECASE), "url", "text"),
    (re.compile(r"\bpath\b|\bfile", re.IGNORECASE), "file", "text"),
    (re.compile(r"city|cities|place|location|town|country", re.IGNORECASE), "place", "text"),
    (re.compile(""), "text", "text"),
)
"""Pattern of a text parameter's name or description → kind and attribute of its clue; first match."""

_word = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """Filled from the `attribute` of a clue of this `kind`; both are "" for none."""

    name: str
    schema: Mapping[str, Any]
    is_required: bool
    kind: str = ""
    attribute: str = ""


@dataclass(slots=True)
class Plan:
    """The calls to make; `missing` explains calls that cannot be made."""

    calls: list[Call] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


@dataclass(slots=True)
class ToolRequest:
    """Tools that are asked about the same clues."""

    tools: list[ToolSpec]
    clues: list[Clue]


def plan_calls(
    question: str, tools: Sequence[ToolSpec], choice: object = None, earlier: Sequence[str] = ()
) -> Plan:
    """`choice` is the `tool_choice` of the request; `earlier` are former questions, newest first."""
    plan = Plan()
    chosen = [
        tool for tool in tools if choice == {"type": "function", "function": {"name": tool.name}}
    ]
    tools = chosen or tools
    if choice == "none" or not tools:
        return plan
    requests = read_requests(question, tools) or follow_up(question, tools, earlier)
    if not requests and (chosen or choice == "required"):
        requests = [ToolRequest([tools[0]], all_clues(question))]
    for request in requests:
        for tool in request.tools:
            for made in calls_of(tool, request.clues, question):
                found: list[Any] = plan.calls if isinstance(made, Call) else plan.missing
                if made not in found:
                    found.append(made)
    if len(plan.calls) > MOST_CALLS:
        plan.missing.append(f"I make at most {MOST_CALLS} calls for one question.")
        del plan.calls[MOST_CALLS:]
    return plan


def read_requests(question: str, tools: Sequence[ToolSpec]) -> list[ToolRequest]:
    """Clues of a clause without a tool belong to the request before it, or to the first one.

    A tool without clues shares those of the next clause: "the weather and the time in Oslo" is one
    request of two tools.
    """
    requests: list[ToolRequest] = []
    before: list[Clue] = []
    for clause in read_clauses(question):
        tool = max(tools, key=lambda one: score(one, clause.words))
        if score(tool, clause.words):
            if requests and not requests[-1].clues:
                requests[-1].tools.append(tool)
            else:
                requests.append(ToolRequest([tool], [] if requests else before))
        (requests[-1].clues if requests else before).extend(clause.clues)
    return requests


def follow_up(
    question: str, tools: Sequence[ToolSpec], earlier: Sequence[str]
) -> list[ToolRequest]:
    """A question of clues alone ("and in Lima?") asks the tools of an earlier question."""
    clues = all_clues(question)
    if not clues or any(clause.words - STOP_WORDS for clause in read_clauses(question)):
        return []
    requests = next(filter(None, (read_requests(text, tools) for text in earlier)), [])
    return [ToolRequest(request.tools, clues) for request in requests]


def score(tool: ToolSpec, words: set[str]) -> int:
    """How much the words point to a tool, by its name and the first sentence of its description."""
    name = keywords(tool.name, 1)
    beginning = keywords(tool.description.partition(".")[0], SHORTEST_KEYWORD)
    asked = words - STOP_WORDS
    return sum(3 if alike(word, name) else 2 if alike(word, beginning) else 0 for word in asked)


@lru_cache(1_000)
def keywords(text: str, shortest: int) -> frozenset[str]:
    words = {word.casefold() for word in _word.findall(text[:1_000])}
    return frozenset(word for word in words - STOP_WORDS if len(word) >= shortest)


def alike(word: str, keywords: frozenset[str]) -> bool:
    """Whether a word is a keyword or a prefix of one, or the reverse ("time", "timestamp")."""
    near = (sorted((word, keyword), key=len) for keyword in keywords)
    return word in keywords or any(
        len(short) >= SHORTEST_KEYWORD and long.startswith(short) for short, long in near
    )


def calls_of(tool: ToolSpec, clues: Sequence[Clue], question: str) -> Iterator[Call | str]:
    """One call for each subject in the clues; a text instead of a call says what it lacks."""
    parameters = parameters_of(tool)
    mentioned = {clue.kind for clue in clues} - {"number"}
    pivot = next((one.kind for one in parameters if one.kind in mentioned), "")
    size = sum(one.kind == pivot and one.is_required for one in parameters) or 1
    subjects = [clue for clue in clues if clue.kind == pivot]
    others = [clue for clue in clues if clue.kind != pivot]
    for start in range(0, len(subjects) or 1, size):
        yield fill(tool, parameters, [*subjects[start : start + size], *others], question)


def parameters_of(tool: ToolSpec) -> list[Parameter]:
    """The required ones first; none for an invalid JSON Schema."""
    properties, required = tool.parameters.get("properties"), tool.parameters.get("required")
    found = []
    for name, schema in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(schema, Mapping):
            needed = isinstance(required, list | tuple) and name in required
            found.append(Parameter(name, schema, needed, *clue_of(name, schema)))
    return sorted(found, key=lambda one: not one.is_required)


def clue_of(name: str, schema: Mapping[str, Any]) -> tuple[str, str]:
    if schema.get("type") in ("integer", "number"):
        return "number", "number"
    if schema.get("type") != "string" or "enum" in schema:
        return "", ""
    text = f"{name} {schema.get('format')} {str(schema.get('description'))[:60]}"
    return next((kind, attribute) for like, kind, attribute in PARAMETER_CLUES if like.search(text))


def fill(
    tool: ToolSpec, parameters: Sequence[Parameter], clues: Sequence[Clue], question: str
) -> Call | str:
    """One call, or a text about a missing argument; no clue is used twice."""
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
    """The value of a required parameter without a clue, if there is one."""
    options = parameter.schema.get("enum")
    if not parameter.is_required or "default" in parameter.schema:
        return parameter.schema.get("default") if parameter.is_required else None
    if isinstance(options, list | tuple) and options:
        return options[0]
    # An empty path is the agent's own folder; a search is for the question itself.
    return {"file": "", "text": question.strip()[:500] or None}.get(parameter.kind)
