"""Strategies for a failed tool. The first strategy that matches is used."""

from typing import Annotated, Literal

from pydantic import Field

from apps.manifest.nodes import Marks, Node, unpublished_default

ALWAYS_FORWARDED = Marks(deprecated=True, advice="Leave it out; the model always gets the error.")


class Trigger(Node):
    """A condition on the text of the error."""

    type: Literal["contains", "equals"]
    """The comparison: the error contains the value, or equals it."""
    value: str
    """The text to search for, such as `429` or `timed out`."""
    case_sensitive: bool = False
    """Match case."""


class Strategy(Node):
    trigger_on: Trigger | None = None
    """The errors that the strategy applies to. Null: all errors, except timeouts, which only a
    trigger can match.
    """


class HardStop(Strategy):
    """Ends the run."""

    type: Literal["hard_stop"] = "hard_stop"
    """Ends the run. The model gets nothing, and the user sees a fixed sentence."""


class Attempts(Node):
    """Retries of the same call before the model gets the error. All attempts share the tool's time
    limit.
    """

    attempts: int = Field(default=3, ge=1, le=5)
    """The number of calls, including the first one."""
    initial_delay: float = Field(default=0.5, ge=0, le=60)
    """The maximum pause after the first call, in seconds. It doubles after each further call."""
    max_delay: float = Field(default=8.0, ge=0, le=60)
    """The limit for each pause in seconds, unless the service requests a longer pause."""
    any_method: bool = False
    """Also retry calls that may change something twice: REST calls with `post`, and tools that are
    not REST. False: only retry safe calls.
    """


class Continue(Strategy):
    """Passes the error to the model, with instructions if there is a trigger."""

    type: Literal["continue"] = "continue"
    """Passes the error to the model, and the run continues."""
    instructions: str | None = None
    """Instructions for the model after the error, such as `Ask for one parcel at a time.` Only used
    with `trigger_on`; without instructions, the model is asked to try another way.
    """
    retry: Attempts | None = None
    """Retry the tool before the model gets the error. Null: the model decides whether to try again."""
    forward_tool_error_message: bool = Field(default=False, json_schema_extra=ALWAYS_FORWARDED)
    """Has no effect."""


class Stop(Strategy):
    """The old name of `hard_stop`."""

    type: Literal["stop"] = Field(
        default="stop", json_schema_extra=Marks(deprecated=True, advice='Use "hard_stop".')
    )
    """Ends the run."""


class Retry(Strategy):
    """The old name of `continue`. It does not retry."""

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
    """The strategies for errors. The first one that matches applies, so put those with a
    `trigger_on` first. Left out: one `continue`. If none applies, the run ends with the error.
    """
    display_error_in_stage: bool = True
    """Show the text of the error in the stage of the call. False: show a sentence without details.
    A timeout is always shown.
    """
