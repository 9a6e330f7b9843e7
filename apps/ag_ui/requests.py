"""Defines and validates the body of an AG-UI request. Unknown keys are ignored, because later
protocol versions add keys.
"""

from collections.abc import Sequence
from typing import Any, Literal

from django.conf import settings
from msgspec import Struct, field

from apps.agent.tools import ToolSpec
from apps.doors.bodies import NamedUnknown, check_depth, decode_body, invalid, shorten_text
from apps.doors.client_conversation import Object

LONGEST_ID = 1_000
NO_PARAMETERS = {"type": "object", "properties": {}}


class WrittenFunction(Struct):
    name: str
    arguments: str = ""


class WrittenCall(Struct):
    id: str
    function: WrittenFunction


class ThreadMessage(Struct, rename="camel"):
    role: Literal["developer", "system", "user", "assistant", "tool", "activity", "reasoning"]
    content: str | list[Object] | Object | None = None
    name: str | None = None
    tool_calls: list[WrittenCall] | None = None
    tool_call_id: str | None = None
    error: str | None = None
    encrypted_value: str | None = None


class FrontendTool(Struct):
    name: str
    description: str = ""
    parameters: Object | None = None


class ThreadContextEntry(Struct):
    description: str
    value: str


class ResumeEntry(Struct, rename="camel"):
    interrupt_id: str
    status: Literal["resolved", "cancelled"]
    payload: Any = None


class RunInput(Struct, forbid_unknown_fields=True, rename="camel"):
    thread_id: str
    run_id: str
    messages: list[ThreadMessage]
    tools: list[FrontendTool] = field(default_factory=list)
    context: list[ThreadContextEntry] = field(default_factory=list)
    state: Any = None
    forwarded_props: Any = None
    resume: list[ResumeEntry] | None = None
    protocol_version: str | None = None
    parent_run_id: str | None = None


class RunInputWithUnknown(RunInput, forbid_unknown_fields=False):
    pass


_decode = NamedUnknown[RunInput](RunInput, RunInputWithUnknown).decode


def read_request(body: bytes) -> tuple[RunInput, frozenset[str]]:
    """Parse a request. Return it, and the names of its unknown keys. Raises `BadRequest` if it is
    invalid.
    """
    request, unknown = decode_body(body, _decode)
    most = settings.GATEWAY_MAX_MESSAGES
    if not request.messages:
        raise invalid("messages", "Send at least one message.")
    if len(request.messages) > most:
        raise invalid(
            "messages",
            f"The request has {len(request.messages):,} messages; the limit is {most:,}.",
        )
    for name, given in (("threadId", request.thread_id), ("runId", request.run_id)):
        if not given or len(given) > LONGEST_ID:
            raise invalid(name, f"Send a string of 1 to {LONGEST_ID:,} characters.")
    values = [
        request.messages,
        request.tools,
        request.resume,
        request.forwarded_props,
        request.state,
    ]
    check_depth(body, values, settings.GATEWAY_MAX_DEPTH, level=2)
    return request, unknown


def read_tools(tools: Sequence[FrontendTool]) -> dict[str, ToolSpec]:
    """Return the client's tools by name. Raises `BadRequest` if a name is empty or used twice."""
    specs: dict[str, ToolSpec] = {}
    for index, tool in enumerate(tools):
        if not tool.name:
            raise invalid(f"tools.{index}.name", "The name is empty. Send a name.")
        if tool.name in specs:
            raise invalid(
                f"tools.{index}.name",
                f"Two tools are named '{shorten_text(tool.name)}'. Rename one.",
            )
        parameters = tool.parameters or NO_PARAMETERS
        specs[tool.name] = ToolSpec(tool.name, tool.description, parameters)
    return specs


def context_text(context: Sequence[ThreadContextEntry]) -> str:
    """Return the client's context as text for the model, or "" if there is none. It is inserted
    before the newest question.
    """
    lines = [f"{entry.description}: {entry.value}" for entry in context]
    return "\n".join(["[Context from the user's program:", *lines]) + "]" if lines else ""
