"""Compares an attempt with the expectations of its test case, and describes the differences."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import msgspec
import regex
from jsonschema import ValidationError

from apps.cases.expectations import (
    Called,
    Contains,
    CostAtMost,
    Equals,
    Fails,
    FitsSchema,
    InOrder,
    Judged,
    Matches,
    NotCalled,
    SecondsAtMost,
    TokensAtMost,
)
from apps.json_schemas.checks import CheckUnfinished, SchemaCheck
from apps.json_schemas.structure import JsonSchemaInvalid
from apps.patterns import PatternRefused, compile_pattern

PATTERN_SECONDS = 0.2
MOST_SEARCHED = 500_000
"""A pattern is searched for in at most this many characters of an answer, because backtracking can
allocate up to 1 GB of memory per second.
"""
SCHEMA_SECONDS = 1.0
"""The maximum number of seconds for validating an answer against a schema, which is enough for
about 50,000 values.
"""
SHOWN = 300


@dataclass(frozen=True, slots=True)
class CalledTool:
    """A tool call that the model made. `arguments` is {} if the model did not write a JSON object."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Attempt:
    """The outcome of running a test case's messages."""

    text: str
    error: str = ""
    tools: Sequence[CalledTool] = ()
    seconds: float = 0
    tokens: int = 0
    costs: Mapping[str, Decimal] = field(default_factory=dict)
    problems: Sequence[str] = ()
    """Descriptions of the calls that could not be replayed."""
    is_cut: bool = False
    """True if a call that could not be replayed ended the attempt."""


class FailedExpectation(msgspec.Struct, frozen=True):
    """An expectation that was not met: its kind, a message, and the expected and actual values if
    they help.
    """

    kind: str
    text: str
    expected: str = ""
    actual: str = ""


class Verdict(msgspec.Struct, frozen=True):
    """A deployment's verdict on an answer. `problem` is the reason why there is none, or ""."""

    passes: bool
    reason: str = ""
    problem: str = ""


Judge = Callable[[Judged, str], Awaitable[Verdict]]
"""A function that asks a deployment whether a sentence is true of a text."""


async def failures_of(
    expectations: Sequence[Any], attempt: Attempt, judge: Judge
) -> list[FailedExpectation]:
    """Return the expectations that the attempt did not meet. Problems with the recording come
    first.
    """
    found = [FailedExpectation("recording", problem) for problem in attempt.problems]
    if attempt.is_cut:
        return found  # The expectations cannot be checked.
    if attempt.error and not any(isinstance(one, Fails) for one in expectations):
        found.append(FailedExpectation("error", f"The run ended with an error: {attempt.error}"))
    for one in expectations:
        if isinstance(one, Judged):
            failure = (
                judge_expectation(one, await judge(one, attempt.text))
                if attempt.text
                else no_text(one)
            )
        else:
            # A search or a check may be slow, and would block the event loop that all requests
            # share.
            failure = await asyncio.to_thread(check, one, attempt)
        if failure is not None:
            found.append(failure)
    return found


def no_text(one: Judged) -> FailedExpectation:
    return FailedExpectation(one.kind, f"There is no answer to check “{one.sentence}” against.")


def judge_expectation(one: Judged, verdict: Verdict) -> FailedExpectation | None:
    if verdict.problem:
        return FailedExpectation(one.kind, f"{one.deployment} could not judge: {verdict.problem}")
    if verdict.passes:
        return None
    return FailedExpectation(one.kind, f"“{one.sentence}” is not true: {verdict.reason}")


def check(one: Any, attempt: Attempt) -> FailedExpectation | None:
    match one:
        case Contains() | Matches() | Equals() | FitsSchema():
            return check_text(one, attempt.text)
        case Called() | NotCalled() | InOrder():
            text = check_tools(one, attempt.tools)
        case Fails():
            text = check_error(one, attempt.error)
        case SecondsAtMost(most=most):
            text = over("seconds", attempt.seconds, most)
        case TokensAtMost(most=most):
            text = over("tokens", attempt.tokens, most)
        case CostAtMost(most=most, currency=currency):
            spent = float(attempt.costs.get(currency, 0))
            text = over(currency, spent, most)
        case _:
            raise AssertionError(one)
    return FailedExpectation(one.kind, text) if text else None


# --- The text -------------------------------------------------------------------------------------


def check_text(
    one: Contains | Matches | Equals | FitsSchema, text: str
) -> FailedExpectation | None:
    match one:
        case Contains(text=wanted):
            if wanted.casefold() in text.casefold():
                return None
            return FailedExpectation(
                one.kind, f"The answer does not contain “{cut(wanted)}”.", actual=text
            )
        case Equals(text=wanted):
            if plain(wanted) == plain(text):
                return None
            return FailedExpectation(
                one.kind, "The answer differs from the expected text.", plain(wanted), plain(text)
            )
        case Matches(pattern=pattern):
            return check_pattern(pattern, text)
        case FitsSchema():
            return check_schema(one, text)


def plain(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


def check_pattern(pattern: str, text: str) -> FailedExpectation | None:
    try:
        # The search runs in a worker thread. Without `concurrent`, it would block the other
        # threads.
        found = compile_pattern(pattern).search(
            text[:MOST_SEARCHED], concurrent=True, timeout=PATTERN_SECONDS
        )
    except PatternRefused as error:
        return FailedExpectation("matches", f"The pattern {error}.")
    except TimeoutError:
        text = f"The pattern {cut(pattern)} takes longer than {PATTERN_SECONDS:g} seconds."
        return FailedExpectation("matches", f"{text} Simplify it.")
    if found:
        return None
    return FailedExpectation("matches", f"The answer does not match {cut(pattern)}.", actual=text)


def check_schema(one: FitsSchema, text: str) -> FailedExpectation | None:
    try:
        value = json.loads(remove_fence(text))
    except (ValueError, RecursionError) as error:
        return FailedExpectation(one.kind, f"The answer is not valid JSON: {error}", actual=text)
    try:
        violations = SchemaCheck.of(one.json_schema).violations(value, SCHEMA_SECONDS)
    except (JsonSchemaInvalid, CheckUnfinished) as error:
        return FailedExpectation(one.kind, f"The schema cannot be used: {error}. Simplify it.")
    if not violations:
        return None
    problem = schema_text(violations[0])
    return FailedExpectation(
        one.kind, f"The JSON does not match the schema: {problem}", actual=text
    )


def schema_text(error: ValidationError) -> str:
    place = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in error.absolute_path)
    where = f"{place.lstrip('.')}: " if place else ""
    return cut(f"{where}{error.message}")


def remove_fence(text: str) -> str:
    """Return the content of the code block if the answer consists of one, else the unchanged
    answer.
    """
    found = regex.fullmatch(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", text, regex.DOTALL)
    return found[1] if found else text


# --- The tools ------------------------------------------------------------------------------------


def check_tools(one: Called | NotCalled | InOrder, calls: Sequence[CalledTool]) -> str:
    names = [call.name for call in calls]
    called = f"Called tools: {', '.join(names)}." if names else "No tool was called."
    match one:
        case NotCalled(tool="*"):
            return "" if not names else f"Tools were called: {', '.join(names)}."
        case NotCalled(tool=tool):
            return f"{tool} was called." if tool in names else ""
        case InOrder(tools=tools):
            rest = iter(names)
            missing = next((name for name in tools if name not in rest), None)
            if missing is None:
                return ""
            return f"{missing} was not called in the order {', '.join(tools)}. {called}"
        case Called():
            return check_called(one, calls, called)


def check_called(one: Called, calls: Sequence[CalledTool], called: str) -> str:
    made = [call for call in calls if call.name == one.tool]
    if not made:
        return f"{one.tool} was not called. {called}"
    fitting = [call for call in made if includes(call.arguments, one.arguments)]
    if not fitting:
        wanted, was = compact(one.arguments), "; ".join(compact(call.arguments) for call in made)
        return f"{one.tool} was not called with {wanted}, but with {was}."
    if one.times is not None and len(fitting) != one.times:
        return f"{one.tool} was called {times(len(fitting))} instead of {times(one.times)}."
    return ""


def includes(whole: Any, part: Any) -> bool:
    """Return True if the JSON value `whole` contains `part`. Objects in `whole` may have additional
    members, but lists must have the same length as in `part`.
    """
    if isinstance(part, Mapping):
        return isinstance(whole, Mapping) and all(
            key in whole and includes(whole[key], value) for key, value in part.items()
        )
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(includes, whole, part))
    return bool(whole == part)


def times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


# --- Other expectations ---------------------------------------------------------------------------


def check_error(one: Fails, error: str) -> str:
    if not error:
        return "The run ended without an error."
    if one.text.casefold() in error.casefold():
        return ""
    return f"The error does not contain “{cut(one.text)}”: {error}"


def over(unit: str, was: float, most: float) -> str:
    return f"It took {was:,.4g} {unit}; the limit is {most:,.4g}." if was > most else ""


def compact(value: Any) -> str:
    return cut(json.dumps(value, ensure_ascii=False))


def cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
