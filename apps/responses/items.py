"""Converts input items to chat completions messages, and reads the state of earlier answers.

Reasoning items from this server contain the encrypted state that the application needs in the next
turn. Reasoning items from other services are ignored.
"""

from collections.abc import Sequence
from mimetypes import guess_type
from typing import Any

from msgspec import Struct

from apps.agent.call_arguments import text_arguments
from apps.doors.bodies import converted, invalid, shorten_text
from apps.doors.client_conversation import ChatMessage, FunctionCall, Object, RequestedCall
from apps.doors.sealed_state import unsealed
from apps.responses.tools import qualified


class MessageItem(Struct):
    role: str
    content: str | list[Object] = ""


class CallItem(Struct):
    call_id: str
    name: str
    arguments: str = ""
    input: str | None = None
    namespace: str | None = None


class OutputItem(Struct):
    call_id: str
    output: str | list[Object]


REFERENCE = "item_reference"
SUMMARY = "compaction_summary"
"""The key of the summary in the encrypted content of a compaction item."""
SUMMARY_HEAD = "[Summary of the conversation so far]"
ROLES = ("user", "assistant", "system", "developer")
CALLS = ("function_call", "custom_tool_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output")


def read_items(written: str | Sequence[Object], stored: Sequence[Object] = ()) -> list[ChatMessage]:
    """Return the `stored` items and the input as messages of the chat completions API. Raises
    `BadRequest` if an item is invalid.
    """
    if isinstance(written, str):
        return [*read_items(stored), ChatMessage("user", written)]
    reader = ItemReader()
    for index, item in enumerate(stored):
        reader.read(item, f"stored.{index}")
    reader.answer = None
    for index, item in enumerate(written):
        reader.read(item, f"input.{index}")
    return reader.messages


def is_reference(item: Object) -> bool:
    return item.get("type") == REFERENCE


class ItemReader:
    """Converts items to messages one by one. Adjacent reasoning, text and calls become one
    assistant message.
    """

    def __init__(self) -> None:
        self.messages: list[ChatMessage] = []
        self.answer: ChatMessage | None = None
        self.calls: set[str] = set()

    def read(self, item: Object, path: str) -> None:
        """Add an item. Raises `BadRequest` with its `path` if it is invalid."""
        kind = item.get("type", "message")
        if kind == "message":
            self.read_message(converted(item, MessageItem, path), path)
        elif kind in CALLS:
            self.read_call(converted(item, CallItem, path), kind)
        elif kind in OUTPUTS:
            self.read_output(converted(item, OutputItem, path), path)
        elif kind == "compaction":
            self.read_summary(item.get("encrypted_content"))
        elif kind == "reasoning":
            self.read_state(item.get("encrypted_content"))
        elif kind == REFERENCE:
            raise invalid(path, "Items are not stored for this request. Send the item itself.")
        elif not isinstance(kind, str) or not kind.endswith(("_call", "_output", "compaction")):
            raise invalid(f"{path}.type", f"Unknown item type '{shorten_text(str(kind))}'.")

    def read_message(self, item: MessageItem, path: str) -> None:
        if item.role not in ROLES:
            roles = ", ".join(f"'{role}'" for role in ROLES)
            raise invalid(f"{path}.role", f"Use one of {roles}.")
        content, attachments = read_content(item.content, f"{path}.content")
        if item.role == "assistant":
            answer = self.opened(is_text=True)
            answer.content = content
        else:
            self.answer = None
            custom = {"attachments": attachments} if attachments else None
            role: Any = item.role
            self.messages.append(ChatMessage(role, content, custom_content=custom))

    def read_call(self, item: CallItem, kind: str) -> None:
        arguments = item.arguments if item.input is None else text_arguments(item.input)
        called = FunctionCall(qualified(item.namespace, item.name), arguments)
        answer = self.opened()
        answer.tool_calls = [*(answer.tool_calls or ()), RequestedCall(item.call_id, called)]
        self.calls.add(item.call_id)

    def read_output(self, item: OutputItem, path: str) -> None:
        if item.call_id not in self.calls:
            raise invalid(
                f"{path}.call_id",
                f"Unknown call: '{shorten_text(item.call_id)}'. Send the call before its output.",
            )
        self.answer = None
        content, attachments = read_content(item.output, f"{path}.output")
        custom = {"attachments": attachments} if attachments else None
        self.messages.append(
            ChatMessage("tool", content, tool_call_id=item.call_id, custom_content=custom)
        )

    def read_state(self, sealed: Any) -> None:
        state = unsealed(sealed) if isinstance(sealed, str) else None
        if state:
            self.opened().custom_content = {"state": state}

    def read_summary(self, sealed: Any) -> None:
        summary = unsealed(sealed).get(SUMMARY) if isinstance(sealed, str) else None
        if summary:
            self.answer = None
            self.messages.append(ChatMessage("user", f"{SUMMARY_HEAD}\n{summary}"))

    def opened(self, *, is_text: bool = False) -> ChatMessage:
        """Return the assistant message that the next item extends. A second text begins a new
        message.
        """
        if self.answer is None or (is_text and (self.answer.content or self.answer.tool_calls)):
            self.answer = ChatMessage("assistant")
            self.messages.append(self.answer)
        return self.answer


# --- Content ----------------------------------------------------------------------------------


def read_content(
    written: str | Sequence[Object], path: str
) -> tuple[str | list[Object], list[Object]]:
    """Return the content parts of an item, and its files. Raises `BadRequest` with the `path` of an
    invalid part.
    """
    if isinstance(written, str):
        return written, []
    parts, files = [], []
    for index, part in enumerate(written):
        place = f"{path}.{index}"
        if part.get("type") == "input_file":
            files.append(read_file(part, place))
        else:
            parts.append(read_part(part, place))
    if len(parts) == 1 and parts[0]["type"] == "text":
        return parts[0]["text"], files
    return parts, files


def read_part(part: Object, path: str) -> Object:
    """Return a content part in the format of the chat completions API. Raises `BadRequest` if it is
    invalid.
    """
    match part:
        case {"type": "input_text" | "output_text" | "text" | "summary_text", "text": str(text)}:
            return {"type": "text", "text": text}
        case {"type": "refusal", "refusal": str(text)}:
            return {"type": "text", "text": text}
        case {"type": "input_image", "image_url": str(url)}:
            detail = part.get("detail")
            return {
                "type": "image_url",
                "image_url": {"url": url, **({"detail": detail} if detail else {})},
            }
        case {"type": "input_image"}:
            raise invalid(f"{path}.image_url", "Send the image as a URL or a data URL.")
        case _:
            raise invalid(
                path, "Use 'input_text', 'input_image' or 'input_file', with its content."
            )


def read_file(part: Object, path: str) -> Object:
    """Return a file part as an attachment. Raises `BadRequest` if it is invalid."""
    name = part.get("filename")
    title = name if isinstance(name, str) else ""
    guessed = guess_type(title)[0] or "application/octet-stream"
    match part:
        case {"file_data": str(data)}:
            head, comma, content = data.partition(",")
            if not (comma and head.startswith("data:")):
                return {"type": guessed, "title": title, "data": data}
            told = head.removeprefix("data:").partition(";")[0]
            return {"type": told or guessed, "title": title, "data": content}
        case {"file_url": str(url)}:
            return {"type": guessed, "title": title, "url": url}
        case {"file_id": str(address)} if address.startswith("files/"):
            return {"type": guessed, "title": title, "url": address}
        case _:
            raise invalid(
                path,
                "Use 'file_data', 'file_url', or a 'file_id' that is the path of a file on this server.",
            )
