"""Fallback strategies for a tool that fails: the first one that matches wins."""

from typing import Annotated, Literal

from pydantic import Field

from apps.manifest.nodes import Marks, Node, unpublished

ALWAYS_FORWARDED = Marks(deprecated=True, advice="Leave it out; the model always gets the error.")


class Trigger(Node):
    """A condition on the text of the error."""

    type: Literal["contains", "equals"]
    """Whether the error has to contain the value, or to be it."""
    value: str
    """The text that is looked for, such as `429` or `timed out`."""
    case_sensitive: bool = False
    """Tell capital and small letters apart."""


class Strategy(Node):
    trigger_on: Trigger | None = None
    """Which errors the strategy is for. Null: all of them, except that a call that takes too long
    has to be named by a trigger."""


class HardStop(Strategy):
    """The run ends."""

    type: Literal["hard_stop"] = "hard_stop"
    """Says that the run ends: the model is told nothing, and the person reads a sentence that is
    always the same."""


class Attempts(Node):
    """The same call again, before the model is told. All attempts share the tool's time."""

    attempts: int = Field(default=3, ge=1, le=5)
    """Calls in all, the first one included."""
    initial_delay: float = Field(default=0.5, ge=0, le=60)
    """The longest pause after the first call, in seconds; it doubles after each other one."""
    max_delay: float = Field(default=8.0, ge=0, le=60)
    """The longest pause that there is, in seconds, unless the service asks for a longer one."""
    any_method: bool = False
    """Repeat also what may change something twice: REST calls with `post`, and tools that are not
    REST. False: only what can be repeated without harm."""


class Continue(Strategy):
    """The model gets the error, and the instructions if there is a trigger."""

    type: Literal["continue"] = "continue"
    """Says that the model gets the error and goes on."""
    instructions: str | None = None
    """What the model is told behind the error, such as `Ask for one parcel at a time.` It counts
    only together with `trigger_on`; else the model is told to try another way."""
    retry: Attempts | None = None
    """Call the tool again before the model is told. Null: the model decides whether to try again."""
    forward_tool_error_message: bool = Field(default=False, json_schema_extra=ALWAYS_FORWARDED)
    """Has no effect."""


class Stop(Strategy):
    """An older name of `hard_stop`."""

    type: Literal["stop"] = Field(
        default="stop", json_schema_extra=Marks(deprecated=True, advice='Write "hard_stop".')
    )
    """Says that the run ends."""


class Retry(Strategy):
    """An older form of `continue`; it calls nothing again by itself."""

    type: Literal["retry"] = Field(
        default="retry", json_schema_extra=Marks(deprecated=True, advice='Write "continue".')
    )
    """Says that the model gets the error and goes on."""
    instructions: str = "The tool failed. Find out why, correct the call and try it again."
    """What the model is told behind the error."""
    forward_tool_error_message: bool = Field(default=False, json_schema_extra=ALWAYS_FORWARDED)
    """Has no effect."""


AnyStrategy = Annotated[Stop | Continue | Retry | HardStop, Field(discriminator="type")]


class Fallback(Node):
    """What happens when a tool fails."""

    strategies: tuple[AnyStrategy, ...] = Field(default_factory=unpublished((Continue(),)))
    """What is to be done about an error: the first one that applies decides, so put those with a
    `trigger_on` first. Left out: one `continue`. Where none applies, the run ends in the words of
    the error."""
    display_error_in_stage: bool = True
    """Show the text of the error in the stage of the call; false: a sentence that tells nothing of
    it. A time-out is always shown."""
