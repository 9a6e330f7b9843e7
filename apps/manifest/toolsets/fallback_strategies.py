"""Defines what happens when a tool call fails. The first strategy that matches the error applies."""

from typing import Annotated, Literal

from pydantic import Field

from apps.manifest.nodes import Marks, Node, unpublished_default

ALWAYS_FORWARDED = Marks(
    deprecated=True, advice="Do not set this field, because the model always gets the error."
)


class Trigger(Node):
    """A condition on the text of the error."""

    type: Literal["contains", "equals"]
    """The comparison: the error contains the value, or equals it."""
    value: str
    """The text to search for, such as `429` or `timed out`."""
    case_sensitive: bool = False
    """True: the comparison is case-sensitive."""


class Strategy(Node):
    trigger_on: Trigger | None = None
    """The errors to which the strategy applies. Null: all errors except timeouts, which only a
    trigger can match.
    """


class HardStop(Strategy):
    """Ends the run."""

    type: Literal["hard_stop"] = "hard_stop"
    """Ends the run. The model gets nothing, and the user sees a generic error message."""


class Attempts(Node):
    """Retries of the same call before the model gets the error. All attempts share the tool's time
    limit.
    """

    attempts: int = Field(default=3, ge=1, le=5)
    """The total number of calls, including the first call."""
    initial_delay: float = Field(default=0.5, ge=0, le=60)
    """The maximum backoff after the first call, in seconds. It doubles after each further call."""
    max_delay: float = Field(default=8.0, ge=0, le=60)
    """The maximum backoff in seconds, unless the service requests a longer backoff."""
    any_method: bool = False
    """Also retry calls that could take effect twice: REST calls with `post`, and calls to tools of
    other types. False: only retry safe calls.
    """


class Continue(Strategy):
    """Passes the error to the model, with instructions if there is a trigger."""

    type: Literal["continue"] = "continue"
    """Passes the error to the model, and the run continues."""
    instructions: str | None = None
    """Instructions for the model after the error, such as `Ask for one parcel at a time.` Only used
    with `trigger_on`. Without instructions, QuickApps instructs the model to try a different
    approach.
    """
    retry: Attempts | None = None
    """Retry the tool before the model gets the error. Null: the model decides whether to try again."""
    forward_tool_error_message: bool = Field(default=False, json_schema_extra=ALWAYS_FORWARDED)
    """Has no effect."""


class Stop(Strategy):
    """The old name for `hard_stop`."""

    type: Literal["stop"] = Field(
        default="stop", json_schema_extra=Marks(deprecated=True, advice='Use "hard_stop".')
    )
    """Ends the run."""


class Retry(Strategy):
    """The old name for `continue`. It does not retry."""

    type: Literal["retry"] = Field(
        default="retry", json_schema_extra=Marks(deprecated=True, advice='Use "continue".')
    )
    """Passes the error to the model, and the run continues."""
    instructions: str = "The tool failed. Find out why, correct the call and try it again."
    """Instructions for the model after the error."""
    forward_tool_error_message: bool = Field(default=False, json_schema_extra=ALWAYS_FORWARDED)
    """Has no effect."""


AnyStrategy = Annotated[Stop | Continue | Retry | HardStop, Field(discriminator="type")]


class Fallback(Node):
    """Controls what happens when a tool call fails."""

    strategies: tuple[AnyStrategy, ...] = Field(default_factory=unpublished_default((Continue(),)))
    """The strategies for errors. The first matching strategy applies, so put strategies with a
    `trigger_on` first. If no strategy applies, the run ends with the error. Omitted: one `continue`
    strategy.
    """
    display_error_in_stage: bool = True
    """Show the error text in the stage of the call. False: show a sentence without details. A
    timeout is always shown.
    """
