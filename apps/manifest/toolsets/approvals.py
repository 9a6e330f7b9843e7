"""Defines the rules that determine which tool calls need a user's approval."""

from typing import Annotated, Any, Literal

import regex
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from apps.json_schemas.checks import SchemaCheck
from apps.json_schemas.structure import JsonSchemaInvalid
from apps.manifest.nodes import Node
from apps.patterns import PatternRefused, compile_pattern

MOST_CHARACTERS = 1_000
"""The maximum number of characters in a pattern. A longer one is probably data, not a rule."""

LONGEST_ANSWER_SECONDS = 30 * 24 * 3600
AnswerSeconds = Annotated[float, Field(gt=0, le=LONGEST_ANSWER_SECONDS, allow_inf_nan=False)]
"""The time limit in seconds for the user's answer."""

Scope = Literal["conversation", "application"]


def checked_pattern(pattern: str) -> str:
    try:
        compile_pattern(pattern, regex.IGNORECASE)
    except PatternRefused as error:
        # Messages from `regex` may contain braces, which are not allowed in a message template.
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
    """Matches tool calls by their text or by their arguments. One match is enough."""

    patterns: tuple[Pattern, ...] = ()
    """Regular expressions that are searched in the call's text, ignoring case. The text is JSON,
    such as `{"tool":"desk_close","arguments":{"id":7}}`. It contains the tool's name as the model
    sees it, and the arguments in the order in which the model wrote them.
    """
    arguments: tuple[ArgumentSchema, ...] = ()
    """JSON Schemas, such as `{"properties": {"amount": {"maximum": 100}}, "required": ["amount"]}`.
    A schema matches a call if the arguments are valid against the schema. A missing argument has
    its default value.
    """


class Approval(Node):
    """Rules that allow a call, require approval for it, or deny it. A call that any level denies is
    denied. Otherwise, a call that any level allows is made. For all other calls, the first `mode`
    that is set decides, in this order: tool, toolset, application, installation.
    """

    mode: Literal["auto", "confirm"] | None = None
    """`auto`: calls need no approval. `confirm`: each call waits for approval. Null: the next level
    decides. The last level is the installation's `APPROVAL_MODE` (`auto` by default).
    """
    after_untrusted: Literal["auto", "confirm"] | None = None
    """`confirm`: after the conversation has read untrusted content, calls that may change data need
    approval, even if they are allowed or have a standing approval. `auto`: these calls need no
    approval for this reason. Null: the next level decides. At the last level, the value is `auto`.
    """
    deny: CallRules = Field(default_factory=CallRules)
    """Calls that are denied in every mode. The model gets the reason."""
    allow: CallRules = Field(default_factory=CallRules)
    """Calls that need no approval."""
    seconds: AnswerSeconds | None = 60
    """The time that the user has to answer, in seconds, up to 30 days. When it expires, the call is
    denied. Null: no limit.
    """
    editable: tuple[str, ...] = ()
    """Names of arguments that the user can edit before approving."""
    always: tuple[Scope, ...] = ()
    """The **Don't ask again** choices that the card offers for the tool: in the same
    `conversation`, or in the whole `application`.
    """
    four_eyes: bool = False
    """Require approval by a user other than the conversation's owner."""
