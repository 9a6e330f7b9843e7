"""Tools that are called by themselves, before or after the model answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import Node
from apps.manifest.templates import first_problem, is_templated

Event = Literal["on_request_start", "on_completion"]
Frequency = Literal["always", "append_if_changed"]


class RefreshCondition(Node):
    kind: Literal["ttl"] = "ttl"
    ttl_minutes: int = Field(gt=0)


class Hook(Node):
    """`arguments` is a template that is filled in when the hook fires."""

    kind: Literal["tool_call"] = "tool_call"
    event: Event
    name: str | None = Field(default=None, description="For the log.")
    timeout_seconds: Annotated[float, Field(gt=0)] | None = None
    toolset_name: str | None = None
    tool_name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    frequency: Frequency = "append_if_changed"
    refresh_condition: RefreshCondition | None = None

    # Validators see the fields above theirs, as far as those are valid.

    @field_validator("arguments")
    @classmethod
    def _can_be_filled_in(cls, arguments: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        event = info.data.get("event")
        if event is not None and (problem := first_problem(arguments, event)):
            raise PydanticCustomError("hook_template", problem)
        return arguments

    @field_validator("frequency")
    @classmethod
    def _is_for_the_start(cls, frequency: Frequency, info: ValidationInfo) -> Frequency:
        if info.data.get("event") == "on_completion":
            raise PydanticCustomError(
                "hook_frequency", "a hook on_completion adds nothing to the history; leave it out"
            )
        return frequency

    @field_validator("refresh_condition")
    @classmethod
    def _has_something_to_refresh(
        cls, condition: RefreshCondition | None, info: ValidationInfo
    ) -> RefreshCondition | None:
        if condition is None:
            return None
        if info.data.get("event") == "on_completion":
            raise PydanticCustomError(
                "hook_refresh", "a hook on_completion adds nothing to the history; leave it out"
            )
        if is_templated(info.data.get("arguments")):
            raise PydanticCustomError(
                "hook_refresh",
                "arguments with a template change by themselves; leave it out, or write plain "
                "arguments",
            )
        return condition
