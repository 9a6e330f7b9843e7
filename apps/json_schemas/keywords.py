"""Adds a time budget to the checks of `jsonschema`."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from apps.patterns import compile_pattern

MESSAGE_CHARACTERS = 1_000
"""The maximum length of a message in characters. A check can find thousands of errors, each with a
message that repeats the value, which may be several megabytes long.
"""

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class ValidationBudgetSpent(Exception):
    """Raised if a check exceeds its time limit."""


@dataclass(frozen=True, slots=True)
class ValidationBudget:
    """The time budget of a check."""

    ends: float
    """The deadline in the thread's CPU time. Other processes do not affect this time."""

    @classmethod
    def of(cls, seconds: float) -> "ValidationBudget":
        return cls(time.thread_time() + seconds)

    def left(self) -> float:
        """Return the remaining seconds, always more than 0. Raises `ValidationBudgetSpent` if none
        remain.
        """
        left = self.ends - time.thread_time()
        if left <= 0:
            raise ValidationBudgetSpent
        return left


BUDGET: ContextVar[ValidationBudget] = ContextVar("json_schema_budget")
"""The budget of the running check. `jsonschema` cannot pass it to keywords."""


def matches(pattern: str, text: str) -> bool:
    left = BUDGET.get().left()
    try:
        found = compile_pattern(pattern).search(text, timeout=left, concurrent=True)
        return found is not None
    except TimeoutError:
        raise ValidationBudgetSpent from None


def pattern(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(value, str) and not matches(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def pattern_properties(
    validator: Any, patterns: Mapping[str, Any], value: Any, schema: Any
) -> Iterator[ValidationError]:
    if isinstance(value, dict):
        for pattern, inner in patterns.items():
            for name, one in value.items():
                if matches(pattern, name):
                    yield from validator.descend(one, inner, path=name, schema_path=pattern)


def additional_properties(
    validator: Any, allowed: Any, value: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if not isinstance(value, dict):
        return
    patterns = schema.get("patternProperties", {})
    unnamed = [name for name in value if name not in schema.get("properties", {})]
    extras = [name for name in unnamed if not any(matches(one, name) for one in patterns)]
    if allowed is False and extras:
        names = ", ".join(map(repr, extras))
        yield ValidationError(f"Additional properties are not allowed: {names}")
    elif allowed is not False:
        for name in extras:
            yield from validator.descend(value[name], allowed, path=name)


def unique_items(
    validator: Any, is_wanted: bool, value: Any, schema: Any
) -> Iterator[ValidationError]:
    if is_wanted and isinstance(value, list):
        seen: set[str] = set()
        for one in value:
            BUDGET.get().left()
            seen.add(canonical(one))
        if len(seen) < len(value):
            yield ValidationError(f"{value!r} has duplicate items")


def canonical(value: Any) -> str:
    """Return a string that is the same for all values that JSON Schema treats as equal."""
    return json.dumps(with_integers(value), sort_keys=True)


def with_integers(value: Any) -> Any:
    """Return the value with each float such as 1.0 replaced by an integer, because both are equal
    in JSON Schema.
    """
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [with_integers(one) for one in value]
        case dict():
            return {name: with_integers(one) for name, one in value.items()}
        case _:
            return value


def spend_budget(keyword: Keyword) -> Keyword:
    """Wrap a keyword's check so that it respects the time budget and shortens its messages."""

    def check(validator: Any, expected: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        BUDGET.get().left()
        for error in keyword(validator, expected, value, schema) or ():
            error.message = error.message[:MESSAGE_CHARACTERS]
            yield error

    return check


KEYWORDS: Mapping[str, Keyword] = {
    **Draft202012Validator.VALIDATORS,
    "additionalProperties": additional_properties,
    "pattern": pattern,
    "patternProperties": pattern_properties,
    "uniqueItems": unique_items,
}

BoundedValidator: Any = validators.extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {name: spend_budget(keyword) for name, keyword in KEYWORDS.items()}
)
