"""Tools that are called by themselves, before or after the model answers."""

from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import Node, is_checked
from apps.manifest.templates import first_problem, is_templated

T = TypeVar("T")

Event = Literal[
    "on_request_start", "on_user_message", "on_tool_result", "on_completion", "on_status"
]
Frequency = Literal["always", "append_if_changed"]


class RefreshCondition(Node):
    """When what a hook brought is too old."""

    kind: Literal["ttl"] = "ttl"
    """The only condition there is: an age."""
    ttl_minutes: int = Field(gt=0)
    """How many minutes the result counts as fresh; as long as it does, the tool is not called."""


class Hook(Node):
    """A tool that is called by itself. A hook that fails or is too slow is skipped; it never fails a
    request."""

    kind: Literal["tool_call"] = "tool_call"
    """The only kind there is."""
    event: Event
    """When the tool is called. `on_request_start`: before the model is asked for the first time, which
    reads the result. The others watch, and their results are dropped: `on_user_message` when a
    message has come, `on_tool_result` after each tool, `on_completion` when the answer is complete
    and has been sent, `on_status` when the work begins and when it is over."""
    name: str | None = None
    """What the log calls the hook."""
    timeout_seconds: Annotated[float, Field(gt=0)] | None = None
    """How many seconds the call may take. Null: 30 after the answer, else 15."""
    toolset_name: str | None = None
    """`name` of the toolset that has the tool, for REST APIs and MCP servers. Leave it out for tools
    of deployments and for internal tools."""
    tool_name: str
    """Name of the tool in its toolset; without `toolset_name`, the name that the model sees."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """What the tool is called with: a JSON-e template that is filled in when the hook fires, such as
    `{"about": "${last_user_message.content}"}`."""
    frequency: Frequency = "append_if_changed"
    """For `on_request_start` only. `append_if_changed`: the result stands behind the first question,
    and once more at the end when it has changed. `always`: it is added at the end of every
    request."""
    refresh_condition: RefreshCondition | None = None
    """For `on_request_start`, and only with arguments without a template: do not call the tool while
    what it said last is fresh. Null: it is called for every request."""

    # Validators see the fields above theirs, as far as those are valid.

    @field_validator("arguments")
    @classmethod
    def _can_be_filled_in(cls, arguments: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        """A hook that runs is left out instead, with an issue."""
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
                "hook_event", f"a hook {event} adds nothing to the history; leave it out"
            )
        return value

    @field_validator("refresh_condition")
    @classmethod
    def _has_something_to_refresh(cls, condition: T, info: ValidationInfo) -> T:
        if condition is not None and is_templated(info.data.get("arguments")):
            raise PydanticCustomError(
                "hook_refresh",
                "arguments with a template change by themselves; leave it out, or write plain "
                "arguments",
            )
        return condition
