"""The body of a chat completion request: its structs, and the messages as values.

Unknown keys are skipped, because every DIAL release brings new ones. The structs are msgspec's, as
pydantic costs ten times as much in every request.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from apps.agent.call_arguments import object_text
from apps.agent.messages import Attachment, Message, Thoughts, ToolCall, attachment_from_dict
from apps.agent.tools import ToolSpec
from apps.catalog.resolved_application import ResolvedApplication
from apps.runs.requests import RunRequest

Positive = Annotated[int, Meta(ge=1)]
Penalty = Annotated[float, Meta(ge=-2, le=2)]
Object = dict[str, Any]
SYSTEM = ("system", "developer")
NO_PARAMETERS = {"type": "object", "properties": {}}


class FunctionCall(Struct, gc=False):
    name: str
    arguments: str | Object | None = ""


class Call(Struct):
    id: str
    function: FunctionCall


class ChatMessage(Struct):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Object] | None = None
    tool_calls: list[Call] | None = None
    tool_call_id: str | None = None
    custom_content: Object | None = None
    reasoning_content: Any = None
    name: Any = None
    refusal: Any = None
    function_call: Any = None
    audio: Any = None


class Function(Struct):
    name: Annotated[str, Meta(min_length=1, max_length=256)]
    description: str | None = None
    parameters: Object | None = None
    strict: Any = None


class ClientTool(Struct):
    type: str
    function: Function | None = None


class ChatRequest(Struct):
    # Tools of the type `static_function` are those of the model's service; they are ignored.
    messages: list[ChatMessage]
    model: str | None = None
    stream: bool | None = False
    n: Annotated[int, Meta(ge=1, le=128)] | None = None
    tools: list[ClientTool] | None = None
    tool_choice: str | Object | None = None
    response_format: Object | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    max_tokens: Positive | None = None
    max_completion_tokens: Positive | None = None
    seed: int | None = None
    stop: str | list[str] | None = None

    @property
    def objects(self) -> list[Any]:
        """Parameters, beside the messages, that may hold any JSON."""
        return [self.tools, self.tool_choice, self.response_format]

    @property
    def end_user(self) -> str:
        """Whom the client asks for, "" if it does not say."""
        return ""


class PreparedRun(msgspec.Struct, frozen=True):
    """A run request, and the names of the client's parameters that have no effect on it.

    `narrative` is what was said of where the person is, which they are to see.
    """

    request: RunRequest
    ignored: frozenset[str] = frozenset()
    narrative: str = ""


Prepare = Callable[[ResolvedApplication], PreparedRun]


def to_specs(request: ChatRequest) -> dict[str, ToolSpec]:
    """The client's own functions by name."""
    return {
        tool.function.name: ToolSpec(
            tool.function.name,
            tool.function.description or "",
            tool.function.parameters or NO_PARAMETERS,
        )
        for tool in request.tools or ()
        if tool.function is not None and tool.type == "function"
    }


def to_message(written: ChatMessage, external: dict[str, ToolSpec]) -> Message:
    """The message as a value, with the calls of the client's own tools alone.

    The application's calls, their results among them, come back in the message's state.
    """
    custom = dict(written.custom_content or {})
    attachments: tuple[Attachment, ...] = tuple(
        attachment_from_dict(item) for item in custom.pop("attachments", None) or ()
    )
    state = custom.pop("state", None) or {}
    custom.pop("stages", None)  # they were shown to people, and are not for the model
    content = written.content
    calls = tuple(
        ToolCall(call.id, call.function.name, object_text(call.function.arguments))
        for call in written.tool_calls or ()
        if call.function.name in external
    )
    has_thought = calls and isinstance(written.reasoning_content, str)
    return Message(
        # `developer` is OpenAI's newer word for `system`.
        role="system" if written.role == "developer" else written.role,  # type: ignore[arg-type]
        content=tuple(content) if isinstance(content, list) else content or "",
        tool_calls=calls,
        tool_call_id=written.tool_call_id,
        attachments=attachments,
        state=state,
        extra=custom,
        thoughts=Thoughts({"reasoning_content": written.reasoning_content})
        if has_thought
        else None,
    )
