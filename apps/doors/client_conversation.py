"""Converts the conversations that OpenAI clients send. Their messages can be in nearly any order.
Other APIs convert their messages to this format first.

System and developer messages can be anywhere; their text follows the operator's prompt. Tool
messages follow the calls that they answer. Unknown keys are ignored, because each DIAL release adds
some.

Calls to tools that the request does not define are converted to user messages, because services
reject such calls if no tools are listed, and a model might repeat them. Results for the
application's own tools are rejected later, by the run, which knows the names of these tools.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec
from msgspec import Struct

from apps.agent.call_arguments import object_text
from apps.agent.messages import (
    Attachment,
    Content,
    ModelMessage,
    Thoughts,
    ToolCall,
    attachment_from_dict,
)
from apps.agent.tools import ToolSpec
from apps.doors.bodies import bullet_lines, invalid, invalid_structure, shorten_text
from apps.errors import BadRequest
from apps.manifest.orchestrator import ClientPermissions
from apps.runs.history import StoredCustomContent, expand
from apps.runs.turns import as_parts, in_turns

Object = dict[str, Any]
SYSTEM = ("system", "developer")
FORM_FIELD = "answer"
"""The form field that contains the user's answer."""
ARGUMENTS_SHOWN = 2000


class FunctionCall(Struct, gc=False):
    name: str
    arguments: str | Object | None = ""


class RequestedCall(Struct):
    id: str
    function: FunctionCall


class ChatMessage(Struct):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Object] | None = None
    tool_calls: list[RequestedCall] | None = None
    tool_call_id: str | None = None
    custom_content: Object | None = None
    reasoning_content: Any = None
    name: Any = None
    refusal: Any = None
    function_call: Any = None
    audio: Any = None


class ParsedConversation(msgspec.Struct, frozen=True):
    """A converted conversation."""

    messages: tuple[ModelMessage, ...]
    instructions: str
    """The text of all system messages."""
    textual_results: frozenset[str]
    """The names of the tools whose results were converted to user messages."""


NO_TEXTUAL_RESULTS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class MessageGroup:
    """A message and, by call ID, the tool results that follow it."""

    first: ChatMessage
    results: Mapping[str | None, ChatMessage]

    def unlisted_calls(self, external: Collection[str]) -> list[RequestedCall]:
        """Return the message's calls to tools that are not in `external`."""
        calls = self.first.tool_calls if self.first.role == "assistant" else ()
        return [call for call in calls or () if call.function.name not in external]


def read_conversation(
    written: Sequence[ChatMessage], external: dict[str, ToolSpec]
) -> ParsedConversation:
    """Convert a conversation. `external` contains the client's tools by name. Raises `BadRequest`
    if the conversation has no messages, or if a tool message has no matching call.
    """
    if len(written) == 1 and is_plain(written[0]):  # In most requests, all messages are plain.
        return ParsedConversation((to_message(written[0], external),), "", NO_TEXTUAL_RESULTS)
    for index, message in enumerate(written):
        check_fields(f"messages.{index}", message)
    problems = list(violations(written))
    if problems:
        text = f"Invalid messages array:\n{bullet_lines(problems)}"
        raise BadRequest("Invalid messages array", text)
    found = list(groups(message for message in written if message.role not in SYSTEM))
    said = expand(value for group in found for value in values_of(group, external))
    told = (
        call
        for group in found
        for call in group.unlisted_calls(external)
        if call.id in group.results
    )
    return ParsedConversation(
        tuple(in_turns(said)),
        instructions_of(written),
        frozenset(call.function.name for call in told),
    )


def is_plain(message: ChatMessage) -> bool:
    """Return True if the message needs neither checks nor changes."""
    rest = (message.tool_calls, message.name, message.refusal, message.function_call, message.audio)
    return message.role == "user" and rest == (None,) * len(rest)


# --- Checks -----------------------------------------------------------------------------------


def check_fields(path: str, message: ChatMessage) -> None:
    if message.role == "function":
        raise invalid(f"{path}.role", "Legacy functions are not supported. Send 'tool' messages.")
    if message.function_call is not None:
        raise invalid(
            f"{path}.function_call", "Legacy functions are not supported. Send 'tool_calls'."
        )
    if message.audio is not None:
        raise invalid(f"{path}.audio", "Audio answers are not supported. Leave 'audio' out.")
    for name in ("name", "refusal"):
        if not isinstance(getattr(message, name), str | None):
            raise invalid(f"{path}.{name}", "Send a string or null.")
    if message.role in SYSTEM:
        check_text_alone(path, message.content)


def check_text_alone(path: str, content: Any) -> None:
    for index, part in enumerate(content if isinstance(content, list) else ()):
        if part.get("type") != "text":
            raise invalid(f"{path}.content.{index}.type", "Only 'text' is allowed here.")


def violations(messages: Sequence[ChatMessage]) -> Iterator[str]:
    """Yield an error if there are no messages, and one for each tool message without a matching
    call, as OpenAI's API does.
    """
    if not messages:
        yield "Messages array must not be empty."
    calls: Collection[str] = ()
    for index, message in enumerate(messages):
        if message.role != "tool":
            called = message.tool_calls if message.role == "assistant" else ()
            calls = {call.id for call in called or ()}
            continue
        place = f"Message at index {index}"
        if not message.tool_call_id:
            yield f"{place}: tool message must have a tool_call_id."
        elif message.tool_call_id not in calls:
            yield (
                f"{place}: tool_call_id '{shorten_text(message.tool_call_id)}' does not match any "
                "tool call in the preceding assistant message."
            )


def check_message(path: str, message: ChatMessage) -> None:
    if isinstance(message.content, list):
        for index, part in enumerate(message.content):
            check_part(f"{path}.content.{index}", part)
    if message.custom_content is not None:
        check_custom(f"{path}.custom_content", message.custom_content)


def check_part(path: str, part: Object) -> None:
    kind = part.get("type")
    if not isinstance(kind, str):
        raise invalid(f"{path}.type", "Send a string.")
    if kind == "text" and not isinstance(part.get("text"), str):
        raise invalid(f"{path}.text", "Send a string.")
    image = part.get("image_url")
    if kind == "image_url" and not (isinstance(image, dict) and isinstance(image.get("url"), str)):
        raise invalid(f"{path}.image_url.url", "Send a string.")


def check_custom(path: str, written: Object) -> None:
    try:
        custom = msgspec.convert(written, StoredCustomContent)
    except msgspec.ValidationError as error:
        raise invalid_structure(str(error), path) from error
    for index, attachment in enumerate(custom.attachments or ()):
        given = (attachment.data, attachment.url)
        if None not in given:
            raise invalid(f"{path}.attachments.{index}", "Send 'data' or 'url', not both.")
        if given == (None, None) and attachment.reference_url is None:
            raise invalid(f"{path}.attachments.{index}", "Send 'data' or 'url'.")


# --- As values --------------------------------------------------------------------------------


def to_message(written: ChatMessage, external: dict[str, ToolSpec]) -> ModelMessage:
    """Convert a message. Calls to the client's own tools, which are in `external`, remain. Calls to
    the application's tools are removed, because the message's state contains them.
    """
    custom = dict(written.custom_content or {})
    attachments: tuple[Attachment, ...] = tuple(
        attachment_from_dict(item) for item in custom.pop("attachments", None) or ()
    )
    state = custom.pop("state", None) or {}
    custom.pop("stages", None)  # These parts are for users only, not for the model.
    content = written.content
    calls = tuple(
        ToolCall(call.id, call.function.name, object_text(call.function.arguments))
        for call in written.tool_calls or ()
        if call.function.name in external
    )
    has_thought = calls and isinstance(written.reasoning_content, str)
    return ModelMessage(
        # `developer` is OpenAI's newer name for `system`.
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


def form_answer(messages: Sequence[ModelMessage]) -> Any:
    """Return the user's answer in the last message's form, or None."""
    form = messages[-1].extra.get("form_value") if messages else None
    return form.get(FORM_FIELD) if isinstance(form, Mapping) else None


def check_instructions(permissions: ClientPermissions, path: str) -> None:
    """Raise `BadRequest` if the manifest does not allow clients to send instructions. `path` is the
    path of the instructions in the request.
    """
    if not permissions.system_messages:
        raise invalid(
            path,
            "This application does not accept instructions from clients "
            "(orchestrator.client.system_messages). Leave them out.",
        )


def instructions_of(messages: Sequence[ChatMessage]) -> str:
    texts = (ModelMessage("system", content_of(m)).text for m in messages if m.role in SYSTEM)
    return "\n\n".join(text for text in texts if text.strip())


def content_of(message: ChatMessage) -> Content:
    content = message.content
    return tuple(content) if isinstance(content, list) else content or message.refusal or ""


def groups(messages: Iterable[ChatMessage]) -> Iterator[MessageGroup]:
    """Yield each message with the tool results that follow it."""
    first: ChatMessage | None = None
    results: dict[str | None, ChatMessage] = {}
    for message in messages:
        if message.role == "tool":
            results[message.tool_call_id] = message
            continue
        if first is not None:
            yield MessageGroup(first, results)
        first, results = message, {}
    if first is not None:
        yield MessageGroup(first, results)


def values_of(group: MessageGroup, external: dict[str, ToolSpec]) -> Iterator[ModelMessage]:
    """Yield the messages of a group: the first message, the results of the client's own tools, and
    all other calls and their results as text.
    """
    said, foreign = to_value(group.first, external), group.unlisted_calls(external)
    if not foreign or said.content or said.tool_calls or said.attachments or said.state:
        yield said
    told = {call.id for call in foreign}
    for call_id, result in group.results.items():
        if call_id not in told:
            yield to_value(result, external)
    for call in foreign:
        yield as_text(call, group.results.get(call.id))


def to_value(message: ChatMessage, external: dict[str, ToolSpec]) -> ModelMessage:
    value = to_message(message, external)
    if message.name or message.refusal:
        value = replace(value, content=content_of(message), name=message.name or "")
    if value.tool_calls and value.role != "assistant":
        value = replace(value, tool_calls=())
    return value


def as_text(call: RequestedCall, result: ChatMessage | None) -> ModelMessage:
    """Return a tool call and its result as a user message."""
    arguments = call.function.arguments or ""
    text = arguments if isinstance(arguments, str) else object_text(arguments)
    made = f"{call.function.name}({text[:ARGUMENTS_SHOWN]})"
    if result is None:
        return ModelMessage("user", f"[The tool call {made} has no result.]")
    told = to_message(result, {})
    head = f"[Result of the tool call {made}]"
    if isinstance(told.content, str):
        return ModelMessage("user", f"{head}\n{told.content}", attachments=told.attachments)
    return ModelMessage("user", (*as_parts(head), *told.content), attachments=told.attachments)
