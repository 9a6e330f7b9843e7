"""Converts the messages of an AG-UI thread to chat completions messages.

The `encryptedValue` of the last assistant message contains the state that tools need in the next
turn. Clients store it and send it back. Calls to the application's own tools are dropped, because
the state contains them too.
"""

import binascii
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from apps.ag_ui.requests import ThreadMessage
from apps.doors.bodies import converted, invalid
from apps.doors.client_conversation import ChatMessage, FunctionCall, Object, RequestedCall
from apps.doors.message_content import MessageContent
from apps.doors.sealed_state import unsealed
from apps.runs.asking_ledger import PENDING

OWN_CALL = "server-call-"
"""The prefix of the IDs of calls to the application's own tools."""
SHOWN_ONLY = ("activity", "reasoning")
IMAGE = "image/"
TEXT = "text/"


class PartSource(Struct):
    type: Literal["data", "url", "file"]
    value: str
    mimeType: str = ""  # noqa: N815 - named as in the protocol


class ThreadFilePart(Struct):
    """A file in a message. Its name may be in `metadata`, as `filename`."""

    source: PartSource
    metadata: Any = None


class BinaryPart(Struct):
    """A file in a message, as sent by protocol versions before 1.0."""

    mimeType: str  # noqa: N815 - named as in the protocol
    data: str | None = None
    url: str | None = None
    filename: str | None = None


def read_messages(messages: Sequence[ThreadMessage]) -> list[ChatMessage]:
    """Convert the thread's messages. Raises `BadRequest` if one is invalid."""
    found: list[ChatMessage] = []
    for index, message in enumerate(messages):
        if message.role in SHOWN_ONLY or is_of_own_tool(message):
            continue
        read = read_message(message, f"messages.{index}.content")
        if read.role != "assistant":
            found.append(read)
        elif found and found[-1].role == "assistant" and found[-1].tool_calls and read.tool_calls:
            join_calls(found[-1], read)
        elif read.content or read.tool_calls or read.custom_content:
            found.append(read)
    return only_newest_question(found)


def is_of_own_tool(message: ThreadMessage) -> bool:
    return message.role == "tool" and (message.tool_call_id or "").startswith(OWN_CALL)


def join_calls(first: ChatMessage, second: ChatMessage) -> None:
    """Add the content and calls of the second message to the first. Clients may store each call in
    an answer as a separate message.
    """
    first.tool_calls = [*(first.tool_calls or ()), *(second.tool_calls or ())]
    first.content = "\n\n".join(str(one) for one in (first.content, second.content) if one)
    first.custom_content = second.custom_content or first.custom_content


def only_newest_question(messages: list[ChatMessage]) -> list[ChatMessage]:
    """Remove open questions from all answers except the last one, because only the last answer can
    be waiting for a user.
    """
    answers = [message for message in messages if message.role == "assistant"]
    for message in answers[:-1]:
        if message.custom_content:
            message.custom_content["state"].pop(PENDING, None)
    return messages


def read_message(message: ThreadMessage, path: str) -> ChatMessage:
    """Convert one message. Raises `BadRequest` with the `path` of its content if it is invalid."""
    content = read_content(message.content, path)
    if message.role == "tool":
        text = content.content or message.error or ""
        return ChatMessage(
            "tool", text, tool_call_id=message.tool_call_id, custom_content=content.custom_content
        )
    if message.role != "assistant":
        role: Any = message.role
        return ChatMessage(
            role, content.content, custom_content=content.custom_content, name=message.name
        )
    calls = [
        RequestedCall(call.id, FunctionCall(call.function.name, call.function.arguments))
        for call in message.tool_calls or ()
        if not call.id.startswith(OWN_CALL)
    ]
    state = unsealed(message.encrypted_value) if message.encrypted_value else {}
    return ChatMessage(
        "assistant",
        content.content,
        tool_calls=calls or None,
        custom_content={"state": state} if state else None,
    )


# --- Parts --------------------------------------------------------------------------------------


def read_content(content: str | Sequence[Object] | Object | None, path: str) -> MessageContent:
    """Convert the content of a message. Raises `BadRequest` with its `path` if it is invalid."""
    found = MessageContent()
    if isinstance(content, str):
        found.text(content)
    elif isinstance(content, Mapping):
        raise invalid(path, "Send a string or an array of parts.")
    else:
        for index, part in enumerate(content or ()):
            read_part(found, part, f"{path}.{index}")
    return found


def read_part(found: MessageContent, part: Object, path: str) -> None:
    """Add a part of a message to `found`. Raises `BadRequest` with the part's `path` if it is
    invalid.
    """
    match part:
        case {"type": "text", "text": str(text)}:
            found.text(text)
        case {"type": "image" | "audio" | "video" | "document" as kind}:
            file = converted(part, ThreadFilePart, path)
            source, name = file.source, filename(file.metadata)
            mime = source.mimeType or (IMAGE if kind == "image" else "")
            if source.type == "file":
                raise invalid(f"{path}.source.type", "Use 'data' or 'url'.")
            if source.type == "data" and not source.mimeType:
                raise invalid(f"{path}.source.mimeType", "Send the media type of the data.")
            read_file(found, mime, source.value, name, path, is_url=source.type == "url")
        case {"type": "binary"}:
            binary = converted(part, BinaryPart, path)
            value = binary.data or binary.url
            if value is None:
                raise invalid(path, "Send 'data' or 'url'.")
            name = binary.filename or ""
            read_file(found, binary.mimeType, value, name, path, is_url=not binary.data)
        case _:
            raise invalid(path, "Use type 'text', 'image', 'audio', 'video' or 'document'.")


def read_file(
    found: MessageContent, mime: str, value: str, name: str, path: str, *, is_url: bool
) -> None:
    """Add a file to `found`. `value` is a URL if `is_url` is True, else base64 data. Raises
    `BadRequest` with the part's `path` if the base64 is invalid.
    """
    if is_url:
        if mime.startswith(IMAGE):
            found.picture(value)
        else:
            found.file(mime, name, url=value)
        return
    try:
        data = b64decode(value, validate=True)
        text = data.decode() if mime.startswith(TEXT) else ""
    except (binascii.Error, UnicodeError, ValueError) as error:
        raise invalid(path, f"The data is not valid base64: {error}.") from error
    if mime.startswith(IMAGE):
        found.picture(f"data:{mime};base64,{value}")
    elif mime.startswith(TEXT):
        found.file(mime, name, data=text)
    else:
        found.file(mime, name, data=value)


def filename(metadata: Any) -> str:
    name = metadata.get("filename") if isinstance(metadata, Mapping) else None
    return name if isinstance(name, str) else ""
