"""Defines hooks: tools that QuickApps calls automatically before or after the model answers."""

from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.hook_templates import first_problem, is_templated
from apps.manifest.nodes import Node, is_checked

T = TypeVar("T")

Event = Literal[
    "on_request_start", "on_user_message", "on_tool_result", "on_completion", "on_status"
]
Frequency = Literal["always", "append_if_changed"]


class RefreshCondition(Node):
    """The age at which the result of a hook expires."""

    kind: Literal["ttl"] = "ttl"
    """Always `ttl`: the condition is the age of the result."""
    ttl_minutes: int = Field(gt=0)
    """The number of minutes for which the result is valid."""


class Hook(Node):
    """A tool that is called automatically. A hook that fails or is too slow is skipped; it never
    causes a request to fail.
    """

    kind: Literal["tool_call"] = "tool_call"
    """Always `tool_call`."""
    event: Event
    """The event that triggers the call. `on_request_start`: before the first request to the model.
    Only the results of these hooks reach the model; the results of other hooks are discarded.
    `on_user_message`: when a message arrives. `on_tool_result`: after each tool call.
    `on_completion`: when the complete answer has been sent. `on_status`: when the run starts and
    when it ends.
    """
    name: str | None = None
    """The name of the hook in the log."""
    timeout_seconds: Annotated[float, Field(gt=0)] | None = None
    """The time limit for the call in seconds. Null: 30 for `on_completion`, and 15 for other
    events.
    """
    toolset_name: str | None = None
    """The `name` of the toolset that contains the tool, for REST APIs and MCP servers. Omit this
    field for deployment tools and internal tools.
    """
    tool_name: str
    """The name of the tool in its toolset. Without `toolset_name`, this is the name that the model
    sees.
    """
    arguments: dict[str, Any] = Field(default_factory=dict)
    """The tool's arguments, as a JSON-e template that is evaluated when the hook runs, such as
    `{"about": "${last_user_message.content}"}`.
    """
    frequency: Frequency = "append_if_changed"
    """Controls where QuickApps inserts the result into the request. This field applies only to
    `on_request_start`. `append_if_changed`: after the first question, and again at the end when the
    result has changed. `always`: at the end of every request.
    """
    refresh_condition: RefreshCondition | None = None
    """The condition for calling the tool again. This field applies only to `on_request_start`, and
    only if the arguments contain no template. While the last result is valid, QuickApps does not
    call the tool. Null: the tool is called for every request.
    """

    # A validator gets only the valid fields that are declared above its own.

    @field_validator("arguments")
    @classmethod
    def _can_be_filled_in(cls, arguments: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        """Raise `PydanticCustomError` for an invalid template if the manifest is being checked. In
        a run, the hook is skipped instead, and an issue is reported.
        """
        event = info.data.get("event")
        if is_checked(info) and event and (problem := first_problem(arguments, event)):
            raise PydanticCustomError("hook_template", problem)
        return arguments

    @field_validator("frequency", "refresh_condition")
    @classmethod
    def _is_for_the_start(cls, value: T, info: ValidationInfo) -> T:
        event = info.data.get("event", "on_request_start")
        if value is not None and event != "on_request_start":
            raise PydanticCustomError(
                "hook_event", f"a hook {event} cannot add to the history; remove the field"
            )
        return value

    @field_validator("refresh_condition")
    @classmethod
    def _has_something_to_refresh(cls, condition: T, info: ValidationInfo) -> T:
        if condition is not None and is_templated(info.data.get("arguments")):
            raise PydanticCustomError(
                "hook_refresh",
                "the field does not apply to arguments with a template; remove it, or use "
                "plain arguments",
            )
        return condition
