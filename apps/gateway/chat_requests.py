"""The body of a chat completion request: its structs, its checks, and the messages as values.

Unknown keys are skipped, because every DIAL release brings new ones. The structs are msgspec's, as
pydantic costs ten times as much in every request.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from django.conf import settings
from msgspec import Meta, Struct

from apps.agent.messages import Attachment, Message, Thoughts, ToolCall, attachment_from_dict
from apps.agent.tools import ToolSpec
from apps.catalog.resolve import ResolvedApplication
from apps.errors import BadRequest
from apps.runs.requests import RunRequest

Positive = Annotated[int, Meta(ge=1)]
Penalty = Annotated[float, Meta(ge=-2, le=2)]
Object = dict[str, Any]
SYSTEM = ("system", "developer")
NO_PARAMETERS = {"type": "object", "properties": {}}
LONGEST_QUOTE = 100
"""Characters of a client's text that an error message repeats."""
MOST_LINES = 100


class FunctionCall(Struct, gc=False):
    name: str
    arguments: str = ""


class Call(Struct):
    id: str
    function: FunctionCall


class AttachmentShape(Struct, gc=False):
    type: str | None = None
    title: str | None = None
    data: str | None = None
    url: str | None = None
    reference_type: str | None = None
    reference_url: str | None = None


class CustomContent(Struct):
    attachments: list[AttachmentShape] | None = None
    state: Object | None = None


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


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A run request, and the names of the client's parameters that have no effect on it."""

    request: RunRequest
    ignored: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ParsedBody:
    """`prepare` raises `BadRequest`."""

    asked: ChatRequest
    prepare: Callable[[ResolvedApplication], PreparedRun]


R = TypeVar("R", bound=ChatRequest)
_decode = msgspec.json.Decoder(ChatRequest).decode


def read_request(
    body: bytes, decode: Callable[[bytes], R], *, max_depth: int, max_messages: int
) -> R:
    """Read a request and check its parts one by one. Raises `BadRequest`."""
    try:
        if not body.isascii():
            body.decode()
        request = decode(body)
    except msgspec.ValidationError as error:
        raise invalid_structure(str(error)) from error
    except (msgspec.DecodeError, UnicodeError) as error:
        raise BadRequest(f"The request body isn't valid JSON: {error}") from error
    except RecursionError as error:
        raise too_deep(max_depth) from error
    if len(request.messages) > max_messages:
        raise invalid("messages", f"Send at most {max_messages} messages.")
    check_depth(request, body, max_depth)
    check_tools(request)
    for index, message in enumerate(request.messages):
        check_message(f"messages.{index}", message)
    return request


def read(body: bytes, *, max_depth: int, max_messages: int) -> ChatRequest:
    """A request of DIAL Core. Raises `BadRequest`."""
    return read_request(body, _decode, max_depth=max_depth, max_messages=max_messages)


def limits() -> dict[str, int]:
    return {
        "max_depth": settings.GATEWAY_MAX_DEPTH,
        "max_messages": settings.GATEWAY_MAX_MESSAGES,
    }


# --- Errors -----------------------------------------------------------------------------------


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1]}…"


def bullets(lines: Sequence[str]) -> str:
    """The lines as a list, and the number of those that are left out."""
    shown = [f"- {line}" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"- … and {len(lines) - MOST_LINES} more")
    return "\n".join(shown)


def invalid(path: str, problem: str) -> BadRequest:
    place = f" on path {path}" if path else ""
    return BadRequest(f"Your request contained invalid structure{place}. {problem}")


def invalid_structure(text: str, prefix: str = "") -> BadRequest:
    """The error of msgspec, with its place written as DIAL does: `messages.0.role`."""
    problem, _, place = text.partition(" - at `$")
    path = place.rstrip("`").replace("[", ".").replace("]", "").replace(".....", ".").strip(".")
    return invalid(".".join(filter(None, (prefix, path))), f"{shortened(problem)}.")


def too_deep(limit: int) -> BadRequest:
    return BadRequest(f"The request body is nested deeper than {limit} levels.")


# --- Checks -----------------------------------------------------------------------------------


def check_depth(request: ChatRequest, body: bytes, limit: int) -> None:
    # Too few brackets for so many levels: nothing has to be counted.
    if body.count(b"[") + body.count(b"{") <= limit:
        return
    # The lowest of these values, the contents of messages, begin on the fourth level.
    level = request.objects
    for message in request.messages:
        level += (message.content, message.custom_content)
    level = [msgspec.to_builtins(item) for item in level if not isinstance(item, str)]
    for _ in range(limit - 3):
        level = [child for item in level for child in children(item)]
        if not level:
            return
    raise too_deep(limit)


def children(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return [value for value in item.values() if isinstance(value, dict | list)]
    if isinstance(item, list):
        return [value for value in item if isinstance(value, dict | list)]
    return []


def check_tools(request: ChatRequest) -> None:
    names = set()
    for index, tool in enumerate(request.tools or ()):
        if tool.type == "static_function":
            continue
        if tool.type != "function" or tool.function is None:
            raise invalid(
                f"tools.{index}", "Write type 'function' or 'static_function', with its object."
            )
        if tool.function.name in names:
            raise invalid(
                f"tools.{index}.function.name", f"Two tools are named '{tool.function.name}'."
            )
        names.add(tool.function.name)
    check_choice(request.tool_choice, names)


def check_choice(choice: str | Object | None, names: set[str]) -> None:
    if isinstance(choice, str) and choice not in ("auto", "none", "required"):
        raise invalid("tool_choice", "Write 'auto', 'none', 'required' or a function.")
    if isinstance(choice, dict):
        function = choice.get("function")
        name = function.get("name") if isinstance(function, dict) else None
        if choice.get("type") != "function" or not isinstance(name, str):
            raise invalid("tool_choice", "Write {'type': 'function', 'function': {'name': …}}.")


def check_message(path: str, message: ChatMessage) -> None:
    if isinstance(message.content, list):
        for index, part in enumerate(message.content):
            check_part(f"{path}.content.{index}", part)
    if message.custom_content is not None:
        check_custom(f"{path}.custom_content", message.custom_content)


def check_part(path: str, part: Object) -> None:
    kind = part.get("type")
    if not isinstance(kind, str):
        raise invalid(f"{path}.type", "Expected `str`.")
    if kind == "text" and not isinstance(part.get("text"), str):
        raise invalid(f"{path}.text", "Expected `str`.")
    image = part.get("image_url")
    if kind == "image_url" and not (isinstance(image, dict) and isinstance(image.get("url"), str)):
        raise invalid(f"{path}.image_url.url", "Expected `str`.")


def check_custom(path: str, written: Object) -> None:
    try:
        custom = msgspec.convert(written, CustomContent)
    except msgspec.ValidationError as error:
        raise invalid_structure(str(error), path) from error
    for index, attachment in enumerate(custom.attachments or ()):
        given = (attachment.data, attachment.url)
        if None not in given:
            raise invalid(f"{path}.attachments.{index}", "Write 'data' or 'url', not both.")
        if given == (None, None) and attachment.reference_url is None:
            raise invalid(f"{path}.attachments.{index}", "Write 'data' or 'url'.")


# --- As values --------------------------------------------------------------------------------


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
        ToolCall(call.id, call.function.name, call.function.arguments)
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
