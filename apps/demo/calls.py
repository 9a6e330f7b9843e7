"""Plans the demo model's tool calls for a question: the tools to call, and their arguments."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import msgspec

from apps.agent.tool_titles import tool_title
from apps.agent.tools import ToolSpec
from apps.demo.clues import Clue, all_clues, read_clauses

MOST_CALLS = 8
"""The maximum number of tool calls in one answer, because the answer shows a step for each call."""
SHORTEST_KEYWORD = 4
"""The minimum length, in characters, of a keyword in a description. Two words match if one begins
with the other, and both have at least this length.
"""
_STOP_WORDS = """
    a about an and any are as at be by can current do does for from get give has have how if in
    information internal into is it long make me my need new no not now of on one or please return s
    say short show some tell text that the then there these this to today two use value want was we
    what when which will with would write you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
TEXT_KINDS = (
    (re.compile(r"time_?zone|\bIANA\b", re.IGNORECASE), "zone"),
    (re.compile(r"\bur[il]\b", re.IGNORECASE), "url"),
    (re.compile(r"\bpath\b|\bfile", re.IGNORECASE), "file"),
    (re.compile(r"city|cities|place|location|town|country", re.IGNORECASE), "place"),
    (re.compile(""), "text"),
)
"""Maps patterns in a text parameter's name or description to the kind of clue that the parameter
takes. The first match wins.
"""

_word = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_]+")

Request = tuple[list[ToolSpec], list[Clue]]
"""A list of tools, and the possible arguments for them."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallPlan:
    """The tool calls for a question."""

    calls: list[PlannedCall] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Sentences about calls that cannot be made."""


def plan_calls(
    question: str, tools: Sequence[ToolSpec], choice: object = None, earlier: Sequence[str] = ()
) -> CallPlan:
    """Plan the calls for a question. `choice` is the `tool_choice` of the request. `earlier` lists
    previous questions, newest first.
    """
    plan = CallPlan()
    chosen = [
        tool for tool in tools if choice == {"type": "function", "function": {"name": tool.name}}
    ]
    tools = chosen or tools
    if choice == "none" or not tools:
        return plan
    requests = read_requests(question, tools) or follow_up(question, tools, earlier)
    if not requests and (chosen or choice == "required"):
        requests = [([tools[0]], all_clues(question))]
    for asked, clues in requests:
        for made in (made for tool in asked for made in calls_of(tool, clues, question)):
            found: list[Any] = plan.calls if isinstance(made, PlannedCall) else plan.missing
            if made not in found:
                found.append(made)
    if len(plan.calls) > MOST_CALLS:
        plan.missing.append(f"I make up to {MOST_CALLS} calls for one question.")
        del plan.calls[MOST_CALLS:]
    return plan


def read_requests(question: str, tools: Sequence[ToolSpec]) -> list[Request]:
    """Find the tools to which a question refers, with clues for their arguments.

    The clues of a clause without a tool belong to the tools that were found before or, if there are
    none, to the first tool that follows. Tools without clues share the clues of the next clause:
    "the weather and the time in Oslo" calls two tools for one place.
    """
    requests: list[Request] = []
    before: list[Clue] = []
    for clause in read_clauses(question):
        tool = max(tools, key=lambda one: score(one, clause.words))
        if score(tool, clause.words):
            if requests and not requests[-1][1]:
                requests[-1][0].append(tool)
            else:
                requests.append(([tool], [] if requests else before))
        (requests[-1][1] if requests else before).extend(clause.clues)
    return requests


def follow_up(question: str, tools: Sequence[ToolSpec], earlier: Sequence[str]) -> list[Request]:
    """Return the tools and clues of a question that has only clues, such as "and in Lima?". The
    tools are those of an earlier question.
    """
    clues = all_clues(question)
    if not clues or any(clause.words - STOP_WORDS for clause in read_clauses(question)):
        return []
    requests = next(filter(None, (read_requests(text, tools) for text in earlier)), [])
    return [(asked, clues) for asked, _ in requests]


def score(tool: ToolSpec, words: set[str]) -> int:
    """Score how well the words match a tool's name and the first sentence of its description."""
    name = keywords(tool.name, 1)
    about = keywords(tool.description.partition(".")[0], SHORTEST_KEYWORD)
    asked = words - STOP_WORDS
    return sum(3 if alike(word, name) else 2 if alike(word, about) else 0 for word in asked)


@lru_cache(1_000)
def keywords(text: str, shortest: int) -> frozenset[str]:
    words = {word.casefold() for word in _word.findall(text[:1_000])}
    return frozenset(word for word in words - STOP_WORDS if len(word) >= shortest)


def alike(word: str, keywords: frozenset[str]) -> bool:
    """Return True if the word equals a keyword, or if one is a prefix of the other, such as "time"
    and "timestamp".
    """
    return word in keywords or any(
        min(len(word), len(known)) >= SHORTEST_KEYWORD
        and (word.startswith(known) or known.startswith(word))
        for known in keywords
    )


def calls_of(tool: ToolSpec, clues: Sequence[Clue], question: str) -> Iterator[PlannedCall | str]:
    """Yield a call for each subject in the clues, or a sentence about a missing argument."""
    sent = tool.parameters.get("properties", {}), tool.parameters.get("required", ())
    try:
        schemas, required = msgspec.convert(sent, tuple[dict[str, dict[str, Any]], set[str]])
    except msgspec.ValidationError:
        schemas, required = {}, set()  # The service that offers the tool has made a mistake.
    names = sorted(schemas, key=lambda name: name not in required)
    kinds = {name: kind_of(name, schemas[name]) for name in names}
    mentioned = {kind for clue in clues for kind in clue} - {"number"}
    pivot = next((kind for kind in kinds.values() if kind in mentioned), "")
    size = sum(kinds[name] == pivot for name in required & kinds.keys()) or 1
    subjects = [clue for clue in clues if pivot in clue]
    others = [clue for clue in clues if pivot not in clue]
    defaults = {
        name: default_of(schemas[name], kinds[name], question) for name in required & kinds.keys()
    }
    for start in range(0, len(subjects) or 1, size):
        yield fill(tool, kinds, defaults, [*subjects[start : start + size], *others])


def kind_of(name: str, schema: Mapping[str, Any]) -> str:
    """Return the kind of clue that a parameter takes, or "" if it takes none."""
    if schema.get("type") in ("integer", "number"):
        return "number"
    if schema.get("type") != "string" or "enum" in schema:
        return ""
    text = f"{name} {schema.get('format')} {str(schema.get('description'))[:60]}"
    return next(kind for pattern, kind in TEXT_KINDS if pattern.search(text))


def default_of(schema: Mapping[str, Any], kind: str, question: str) -> Any:
    """Return the value for a required parameter for which no clue was found, or None."""
    options = schema.get("enum")
    if isinstance(options, list) and options and "default" not in schema:
        return options[0]
    # An empty path is the agent's own folder; a search uses the question itself.
    made_up = {"file": "", "text": question.strip()[:500] or None}.get(kind)
    return schema.get("default", made_up)


def fill(
    tool: ToolSpec, kinds: Mapping[str, str], defaults: Mapping[str, Any], clues: list[Clue]
) -> PlannedCall | str:
    """Return a tool call, or a sentence about the missing argument. Each clue is used once."""
    arguments = {}
    for name, kind in kinds.items():
        clue = next((clue for clue in clues if kind in clue), None)
        if clue is not None:
            clues.remove(clue)
        value = defaults.get(name) if clue is None else clue[kind]
        if value is not None:
            arguments[name] = value
        elif clue is not None:
            return f"I do not know the time zone of {clue['place']!r}."
        elif name in defaults:
            words = name.replace("_", " ")
            return f"**{tool_title(tool.name)}** needs a value for *{words}*, and I found none."
    return PlannedCall(tool.name, arguments)
