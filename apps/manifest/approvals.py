"""When a call of a tool has to be approved by a person."""

from typing import Annotated, Any, Literal

import regex
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from apps.json_schemas.checks import SchemaCheck
from apps.json_schemas.structure import JsonSchemaInvalid
from apps.manifest.nodes import Node
from apps.patterns import PatternRefused, compile_pattern

MOST_CHARACTERS = 1_000
"""Of a pattern: longer ones are data, not rules."""

LONGEST_ANSWER_SECONDS = 30 * 24 * 3600
AnswerSeconds = Annotated[float, Field(gt=0, le=LONGEST_ANSWER_SECONDS, allow_inf_nan=False)]
"""The time that a person has to answer."""

Scope = Literal["conversation", "application"]


def checked_pattern(pattern: str) -> str:
    try:
        compile_pattern(pattern, regex.IGNORECASE)
    except PatternRefused as error:
        # What `regex` reports may have braces, which the template of a message must not have.
        raise PydanticCustomError(
            "pattern", "{problem}", {"problem": f"the pattern {error}."}
        ) from error
    return pattern


def checked_schema(schema: dict[str, Any]) -> dict[str, Any]:
    try:
        SchemaCheck.of(schema)
    except JsonSchemaInvalid as error:
        raise PydanticCustomError(
            "json_schema", "{problem}", {"problem": f"this JSON Schema cannot be used: {error}"}
        ) from error
    return schema


Pattern = Annotated[
    str, Field(min_length=1, max_length=MOST_CHARACTERS), AfterValidator(checked_pattern)
]
ArgumentSchema = Annotated[dict[str, Any], AfterValidator(checked_schema)]


class CallRules(Node):
    """Calls of tools, told by their text or by their arguments. One match is enough."""

    patterns: tuple[Pattern, ...] = ()
    """Regular expressions, searched without regard to case in the call's text, which is
    `{"tool":"desk_close","arguments":{"id":7}}`: the name as the model sees it, the arguments in the
    order in which the model wrote them."""
    arguments: tuple[ArgumentSchema, ...] = ()
    """JSON Schemas that the object of arguments is held against, such as
    `{"properties": {"amount": {"maximum": 100}}, "required": ["amount"]}`. An argument that is left
    out has its default value."""


class Approval(Node):
    """Which calls are made at once, which wait for a person, and which are not made. What is denied
    anywhere is denied; then what is allowed anywhere is made; of the rest, the nearest `mode`
    decides: that of the tool, the toolset, the application, the installation."""

    mode: Literal["auto", "confirm"] | None = None
    """`auto`: calls are made; `confirm`: each waits until a person has approved it. Null: as the next
    level says, at last `APPROVAL_MODE` of the installation, which is `auto` unless it is set."""
    after_untrusted: Literal["auto", "confirm"] | None = None
    """`confirm`: once the conversation has read something untrusted, calls that may change anything
    wait for a person, also those that are allowed and those that people are spared. `auto`: they do
    not. Null: as the next level says, at last `auto`."""
    deny: CallRules = Field(default_factory=CallRules)
    """Calls that are never made, whatever the mode is. The model is told so."""
    allow: CallRules = Field(default_factory=CallRules)
    """Calls that need no approval."""
    seconds: AnswerSeconds | None = 60
    """How long there is time to answer, at most 30 days; then the call is denied. Null: there is no
    limit."""
    editable: tuple[str, ...] = ()
    """Names of arguments that the person may change before approving."""
    always: tuple[Scope, ...] = ()
    """What a person may be spared from then on: to be asked again for the tool in the same
    `conversation`, or in the `application`."""
    four_eyes: bool = False
    """Another person has to approve than the one whose conversation it is."""
