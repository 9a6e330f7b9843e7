"""Which of the offered tools a question points to, and with what."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.agent.tools import ToolSpec
from apps.workspace.demo.arguments import Call, Missing, fill
from apps.workspace.demo.clues import Clause, Clue, read_clauses

MOST_CALLS = 8
"""Of one answer; more would only be a wall of stages."""
MOST_EARLIER = 5
"""Questions back in which the tools of a question like "and in Lima?" are looked for."""
NAMED = 10
IN_NAME = 3
IN_FIRST_SENTENCE = 2
ELSEWHERE = 1
ENOUGH = 2
"""Points: one word of the name, or of what the description begins with."""
SHORTEST_STEM = 4

_NO_KEYWORDS = """
a an the and or of for in on at to from with by as is are be it its this that these those get
gets getting give gives return returns current currently tool tools call calls calling use uses
used using internal api rest mcp new all any some one two what which who when how can could
would will do does did have has me my you your please about make tell show find user users value
values result results data information info text name given if not no optional default
optionally i we into into per via also more most than then there here today now want like need
know let see say question answer write long short
"""
NO_KEYWORDS = frozenset(_NO_KEYWORDS.split())
_word = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to call; `missing` says what could not be called, and why."""

    calls: tuple[Call, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(slots=True)
class Wish:
    """Tools that are asked about the same things."""

    tools: list[ToolSpec]
    clues: list[Clue] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Keywords:
    spec: ToolSpec
    in_name: frozenset[str]
    in_first_sentence: frozenset[str]
    elsewhere: frozenset[str]

    def score(self, words: Sequence[str], text: str) -> int:
        if re.search(rf"(?<![\w-]){re.escape(self.spec.name)}(?![\w-])", text):
            return NAMED
        return sum(self.points(word) for word in set(words) - NO_KEYWORDS)

    def points(self, word: str) -> int:
        for points, keywords in (
            (IN_NAME, self.in_name),
            (IN_FIRST_SENTENCE, self.in_first_sentence),
            (ELSEWHERE, self.elsewhere),
        ):
            if any(alike(word, keyword) for keyword in keywords):
                return points
        return 0


def make_plan(
    text: str,
    tools: Sequence[ToolSpec],
    tool_choice: object = None,
    earlier: Sequence[str] = (),
) -> Plan:
    """The calls that a question asks for.

    `tool_choice` is of the completion request; `earlier` are the questions before, the newest
    first, which "and in Lima?" goes on from.
    """
    if tool_choice == "none" or not tools:
        return Plan()
    forced = forced_tool(tool_choice, tools)
    clauses = read_clauses(text)
    if forced is not None:
        clues = [clue for clause in clauses for clue in clause.clues]
        return complete([Wish([forced], clues, [text])])
    plan = complete(read_wishes(clauses, tools) or go_on(clauses, tools, earlier))
    if tool_choice == "required" and not plan.calls:
        return complete([Wish([tools[0]], [c for clause in clauses for c in clause.clues], [text])])
    return plan


def forced_tool(choice: object, tools: Sequence[ToolSpec]) -> ToolSpec | None:
    function: Any = choice.get("function") if isinstance(choice, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    return next((spec for spec in tools if spec.name == name), None)


def read_wishes(clauses: Sequence[Clause], tools: Sequence[ToolSpec]) -> list[Wish]:
    """Clauses without a tool belong to the wish before them, or to the first one.

    "the weather and the time in Oslo" is one wish of two tools: those of a clause that mentions
    nothing are asked about what the next one mentions.
    """
    index = [keywords_of(spec) for spec in tools]
    wishes: list[Wish] = []
    before: list[Clue] = []
    for clause in clauses:
        spec = best(index, clause)
        if spec is not None:
            if wishes and not wishes[-1].clues:
                wishes[-1].tools.append(spec)
            else:
                wishes.append(Wish([spec], before))
                before = []
        clues = clause.clues or ((clause.name,) if spec is None and clause.name else ())
        if wishes:
            wishes[-1].clues += clues
            wishes[-1].texts.append(clause.text)
        else:
            before += clues
    return wishes


def go_on(
    clauses: Sequence[Clause], tools: Sequence[ToolSpec], earlier: Sequence[str]
) -> list[Wish]:
    """A question that only mentions other things asks the newest tools about them."""
    clues = [clue for clause in clauses for clue in (*clause.clues, clause.name) if clue]
    said = {word for clause in clauses if not clause.name for word in clause.words}
    if not clues or said - NO_KEYWORDS:
        return []
    for question in earlier[:MOST_EARLIER]:
        wishes = read_wishes(read_clauses(question), tools)
        if wishes:
            return [Wish(wish.tools, clues, [clause.text for clause in clauses]) for wish in wishes]
    return []


def best(index: Sequence[Keywords], clause: Clause) -> ToolSpec | None:
    """The tool with the most points, of several the first."""
    scores = [keywords.score(clause.words, clause.text) for keywords in index]
    top = max(scores)
    enough = IN_NAME if clause.name is not None else ENOUGH  # "Mexico City" asks for no city
    return index[scores.index(top)].spec if top >= enough else None


def complete(wishes: Sequence[Wish]) -> Plan:
    calls: list[Call] = []
    missing: dict[str, None] = {}
    for wish in wishes:
        for spec in wish.tools:
            for filled in fill(spec, wish.clues, ", ".join(wish.texts)):
                if isinstance(filled, Missing):
                    missing[str(filled)] = None
                elif filled not in calls:
                    calls.append(filled)
    if len(calls) > MOST_CALLS:
        missing[f"I make at most {MOST_CALLS} calls for one question and left out the rest."] = None
    return Plan(tuple(calls[:MOST_CALLS]), tuple(missing))


def keywords_of(spec: ToolSpec) -> Keywords:
    first, _, rest = spec.description.partition(".")
    return Keywords(
        spec,
        keywords(spec.name, 1),
        keywords(first, SHORTEST_STEM),
        keywords(rest, SHORTEST_STEM),
    )


def keywords(text: str, shortest: int) -> frozenset[str]:
    words = {word.casefold() for word in _word.findall(text[:2_000])}
    return frozenset(word for word in words - NO_KEYWORDS if len(word) >= shortest)


def alike(one: str, other: str) -> bool:
    """Whether two words are the same, or one begins as the other does ("time", "timestamp")."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= SHORTEST_STEM and long.startswith(short)
