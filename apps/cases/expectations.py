"""Defines the expectations of a test case, as an operator writes them: a list of objects with a
`kind`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from apps.json_schemas.checks import SchemaCheck
from apps.json_schemas.structure import JsonSchemaInvalid
from apps.patterns import PatternRefused, compile_pattern

MOST_EXPECTATIONS = 50
LONGEST_PATTERN = 2_000

Name = Annotated[str, Field(min_length=1, max_length=200)]
Most = Annotated[float, Field(gt=0)]


class WrittenExpectation(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Contains(WrittenExpectation):
    """The answer contains this text, regardless of case."""

    kind: Literal["contains"] = "contains"
    text: str = Field(min_length=1)


class Matches(WrittenExpectation):
    """The answer contains a match of this regular expression."""

    kind: Literal["matches"] = "matches"
    pattern: str = Field(min_length=1, max_length=LONGEST_PATTERN)

    @field_validator("pattern")
    @classmethod
    def is_a_pattern(cls, pattern: str) -> str:
        try:
            compile_pattern(pattern)
        except PatternRefused as error:
            raise ValueError(f"the pattern {error}.") from error
        return pattern


class Equals(WrittenExpectation):
    """The answer equals this text, apart from leading and trailing spaces."""

    kind: Literal["equals"] = "equals"
    text: str


class FitsSchema(WrittenExpectation):
    """The answer is JSON that matches this JSON Schema."""

    kind: Literal["schema"] = "schema"
    json_schema: dict[str, Any] = Field(alias="schema")

    @field_validator("json_schema")
    @classmethod
    def is_a_schema(cls, schema: dict[str, Any]) -> dict[str, Any]:
        try:
            SchemaCheck.of(schema)
        except JsonSchemaInvalid as error:
            raise ValueError(f"this JSON Schema cannot be used: {error}") from error
        return schema


class Judged(WrittenExpectation):
    """A deployment judges that this sentence is true of the answer."""

    kind: Literal["judged"] = "judged"
    sentence: str = Field(min_length=1, max_length=2_000)
    deployment: Name


class Called(WrittenExpectation):
    """A tool was called with at least these arguments: exactly `times` times, or at least once if
    `times` is not set.
    """

    kind: Literal["called"] = "called"
    tool: Name
    arguments: dict[str, Any] = Field(default_factory=dict)
    times: int | None = Field(default=None, ge=1)


class NotCalled(WrittenExpectation):
    """A tool was not called. The name `*` means any tool."""

    kind: Literal["not_called"] = "not_called"
    tool: Name


class InOrder(WrittenExpectation):
    """Tools were called in this order, possibly with other calls between them."""

    kind: Literal["in_order"] = "in_order"
    tools: list[Name] = Field(min_length=2)


class Fails(WrittenExpectation):
    """The run ends with an error that contains this text. Without this expectation, any error fails
    the test case.
    """

    kind: Literal["fails"] = "fails"
    text: str = ""


class SecondsAtMost(WrittenExpectation):
    kind: Literal["seconds"] = "seconds"
    most: Most


class TokensAtMost(WrittenExpectation):
    """The run uses at most this many input and output tokens in total."""

    kind: Literal["tokens"] = "tokens"
    most: Most


class CostAtMost(WrittenExpectation):
    kind: Literal["cost"] = "cost"
    most: Most
    currency: str = Field(default="USD", pattern=r"^[A-Z]{3}$")


Expectation = Annotated[
    Contains
    | Matches
    | Equals
    | FitsSchema
    | Judged
    | Called
    | NotCalled
    | InOrder
    | Fails
    | SecondsAtMost
    | TokensAtMost
    | CostAtMost,
    Field(discriminator="kind"),
]

_expectations: TypeAdapter[list[Any]] = TypeAdapter(
    Annotated[list[Expectation], Field(max_length=MOST_EXPECTATIONS)]
)


def read_expectations(written: object) -> Sequence[Any]:
    """Parse the expectations of a test case. Raises pydantic's `ValidationError` if they are
    invalid.
    """
    return _expectations.validate_python(written)


def expectation_problems(written: object) -> list[str]:
    """Return the errors in a test case's expectations, with their paths, or [] if there are none."""
    try:
        read_expectations(written)
    except ValidationError as error:
        return [problem_text("expectations", one) for one in error.errors()]
    return []


def problem_text(root: str, error: Any) -> str:
    """Format a pydantic error with its path, such as `expectations[0].pattern: …`. `root` is the
    first part of the path.
    """
    # The second step of a path within a union is the name of the chosen kind.
    steps = [s for at, s in enumerate(error["loc"]) if at != 1 or s not in KINDS]
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return f"{root}{place}: {error['msg'].removeprefix('Value error, ')}"


KINDS = frozenset(
    {
        *("contains", "matches", "equals", "schema", "judged", "called", "not_called"),
        *("in_order", "fails", "seconds", "tokens", "cost"),
    }
)
