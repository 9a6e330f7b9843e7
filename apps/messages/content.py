"""Converts the messages of a request to chat completions messages.

The state that the application's tools need in the next turn is sent as a redacted thinking block,
which clients return unchanged.
"""

from collections.abc import Sequence
from typing import Any

from django.core import signing
from msgspec import Struct

from apps.agent.call_arguments import object_text
from apps.doors.bodies import converted, invalid
from apps.doors.client_conversation import ChatMessage, FunctionCall, Object, RequestedCall
from apps.doors.message_content import MessageContent
from apps.doors.sealed_state import unsealed
from apps.messages.requests import CountRequest

SIGNER = signing.Signer(salt="apps.messages.thinking")
PICTURE = "image/"


class ToolUseBlock(Struct):
    id: str
    name: str
    input: Object


class ToolResultBlock(Struct):
    tool_use_id: str
    content: str | list[Object] = ""
    is_error: bool | None = None


def signature(thinking: str) -> str:
    """Return the signature of a thinking block's text. It proves that this installation sent the
    block.
    """
    return SIGNER.signature(thinking)


def read_messages(request: CountRequest) -> list[ChatMessage]:
    """Return the messages of a request in the format of the chat completions API. Raises
    `BadRequest` if a message is invalid.
    """
    found = read_system(request.system)
    for index, message in enumerate(request.messages):
        path = f"messages.{index}.content"
        if message.role == "system":
            found.append(ChatMessage("system", texts(message.content, path)))
        elif isinstance(message.content, str):
            found.append(ChatMessage(message.role, message.content))
        elif message.role == "assistant":
            found.append(read_answer(message.content, path))
        else:
            found += read_question(message.content, path)
    return found


def read_system(system: str | Sequence[Object] | None) -> list[ChatMessage]:
    said = texts(system, "system") if system else ""
    return [ChatMessage("system", said)] if said else []


def texts(written: str | Sequence[Any], path: str) -> str:
    """Return the joined text of text blocks. Raises `BadRequest` with the `path` of a block that is
    not text.
    """
    if isinstance(written, str):
        return written
    said = []
    for index, block in enumerate(written):
        match block:
            case {"type": "text", "text": str(text)}:
                said.append(text)
            case _:
                raise invalid(f"{path}.{index}", "Only text blocks are allowed here.")
    return "\n\n".join(said)


# --- Answers ----------------------------------------------------------------------------------


def read_answer(blocks: Sequence[Object], path: str) -> ChatMessage:
    """Return an assistant message in the format of the chat completions API. Raises `BadRequest` if
    a block is invalid.
    """
    answer = ChatMessage("assistant")
    said = []
    for index, block in enumerate(blocks):
        match block:
            case {"type": "text", "text": str(text)}:
                said.append(text)
            case {"type": "tool_use"}:
                use = converted(block, ToolUseBlock, f"{path}.{index}")
                called = RequestedCall(use.id, FunctionCall(use.name, object_text(use.input)))
                answer.tool_calls = [*(answer.tool_calls or ()), called]
            case {"type": "thinking", "thinking": str(thinking), "signature": str(proof)}:
                if proof == signature(thinking):
                    answer.reasoning_content = thinking
            case {"type": "redacted_thinking", "data": str(data)}:
                answer.custom_content = {"state": unsealed(data)}
            case {"type": "thinking" | "redacted_thinking" | "text"}:
                raise invalid(f"{path}.{index}", "The block has no content. Add the content.")
            case _:
                pass  # These blocks come from tools that Anthropic runs.
    answer.content = "\n\n".join(said)
    return answer


# --- Questions --------------------------------------------------------------------------------


def read_question(blocks: Sequence[Object], path: str) -> list[ChatMessage]:
    """Convert a user message to chat completions messages: one for each tool result, then one for
    the other blocks. Raises `BadRequest` if a block is invalid.
    """
    found, rest = [], ContentReader()
    for index, block in enumerate(blocks):
        place = f"{path}.{index}"
        if block.get("type") == "tool_result":
            found.append(read_result(converted(block, ToolResultBlock, place), place))
        else:
            rest.read(block, place)
    if rest.parts or rest.files or not found:
        found.append(ChatMessage("user", rest.content, custom_content=rest.custom_content))
    return found


def read_result(result: ToolResultBlock, path: str) -> ChatMessage:
    content = ContentReader()
    if isinstance(result.content, str):
        content.text(result.content)
    else:
        for index, block in enumerate(result.content):
            content.read(block, f"{path}.content.{index}")
    return ChatMessage(
        "tool",
        content.content,
        tool_call_id=result.tool_use_id,
        custom_content=content.custom_content,
    )


class ContentReader(MessageContent):
    """Collects the text, images and documents in the blocks of a message."""

    def read(self, block: Object, path: str) -> None:
        """Add a block of the message. Raises `BadRequest` with its `path` if it is invalid."""
        match block:
            case {"type": "text", "text": str(text)}:
                self.text(text)
            case {
                "type": "image",
                "source": {"type": "base64", "media_type": str(kind), "data": str(data)},
            }:
                self.picture(f"data:{kind};base64,{data}")
            case {"type": "image", "source": {"type": "url", "url": str(url)}}:
                self.picture(url)
            case {"type": "document", "source": dict(source)}:
                self.document(source, block.get("title"), path)
            case {"type": "search_result", "content": list(content)}:
                self.text(texts(content, f"{path}.content"))
            case {"type": "text" | "image" | "document" | "search_result"}:
                raise invalid(
                    path,
                    "The block has no content, or its source has an unknown type. Add the content, with a source of a supported type.",
                )
            case {"type": str()}:
                pass  # These blocks come from tools that Anthropic runs.
            case _:
                raise invalid(f"{path}.type", "Send a string.")

    def document(self, source: Object, title: Any, path: str) -> None:
        """Add a document block. Raises `BadRequest` if the type of its source is unknown."""
        name = title if isinstance(title, str) else ""
        match source:
            case {"type": "base64", "media_type": str(kind), "data": str(data)}:
                self.file(kind, name, data=data)
            case {"type": "text", "data": str(data)}:
                self.file("text/plain", name, data=data)
            case {"type": "url", "url": str(url)}:
                self.file("application/pdf", name, url=url)
            case {"type": "content", "content": str() | list() as content}:
                self.text(texts(content, f"{path}.source.content"))
            case _:
                raise invalid(f"{path}.source", "Use type 'base64', 'text', 'url' or 'content'.")
