"""What happens when a tool fails: the first strategy that matches wins."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from apps.manifest.nodes import Marks, Node, unpublished


class Trigger(Node):
    """A condition on the text of the error."""

    type: Literal["contains", "equals"]
    value: str
    case_sensitive: bool = False


class Strategy(Node):
    trigger_on: Trigger | None = Field(default=None, description="Null matches every error.")


class HardStop(Strategy):
    """The run ends."""

    type: Literal["hard_stop"] = "hard_stop"


class Attempts(Node):
    """The same call again, before the model is told. All attempts share the tool's time."""

    attempts: int = Field(default=3, ge=1, le=5, description="Calls in all.")
    initial_delay: float = Field(
        default=0.5,
        ge=0,
        le=60,
        description="Seconds; the longest pause after the first call, doubled after each other.",
    )
    max_delay: float = Field(default=8.0, ge=0, le=60, description="Seconds; the longest pause.")
    any_method: bool = Field(
        default=False,
        description="Also calls that may change something twice: the REST method post, and "
        "tools that are not REST.",
    )


class Continue(Strategy):
    """The model gets the error, and the instructions if there is a trigger."""

    type: Literal["continue"] = "continue"
    instructions: str | None = None
    retry: Attempts | None = Field(
        default=None, description="Call the tool again by itself; null leaves it to the model."
    )
    forward_tool_error_message: bool = Field(
        default=False,
        json_schema_extra=Marks(
            deprecated=True, advice="Leave it out; the model always gets the error."
        ),
    )


class Stop(Strategy):
    type: Literal["stop"] = Field(
        default="stop", json_schema_extra=Marks(deprecated=True, advice='Write "hard_stop".')
    )


class Retry(Strategy):
    type: Literal["retry"] = Field(
        default="retry", json_schema_extra=Marks(deprecated=True, advice='Write "continue".')
    )
    instructions: str = "The tool failed. Find out why, correct the call and try it again."
    forward_tool_error_message: bool = Field(
        default=False,
        json_schema_extra=Marks(
            deprecated=True, advice="Leave it out; the model always gets the error."
        ),
    )


AnyStrategy = Annotated[Stop | Continue | Retry | HardStop, Field(discriminator="type")]


class Fallback(Node):
    strategies: tuple[AnyStrategy, ...] = Field(default_factory=unpublished((Continue(),)))
    display_error_in_stage: bool = True
