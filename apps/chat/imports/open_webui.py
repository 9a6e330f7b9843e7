"""Reads conversations from Open WebUI exports: trees of messages with IDs, or flat lists in older
files.
"""

import re
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext

from apps.chat.imports.exported_values import (
    chain,
    entries,
    identifier,
    item,
    left_out,
    moment,
    paragraphs,
    string,
    tags_in,
)
from apps.chat.imports.tree import (
    SourceConversation,
    SourceFile,
    SourceNode,
    Speaker,
    UnreadableConversation,
)

DETAILS = re.compile(
    r"<details\b[^>]*\btype=\"(?:reasoning|tool_calls|code_interpreter)\"[^>]*>.*?(?:</details>|\Z)",
    re.DOTALL,
)
"""Matches the model's reasoning and tool calls in the text of an answer."""
SPEAKERS: dict[str, Speaker] = {"user": "user", "assistant": "assistant"}


def is_open_webui(document: dict[str, Any]) -> bool:
    return "chat" in document


def read(document: dict[str, Any]) -> SourceConversation:
    """Convert an Open WebUI conversation. Raises `UnreadableConversation` if it has no messages."""
    chat = item(document, "chat")
    history = item(chat, "history")
    messages = history.get("messages")
    if isinstance(messages, dict) and messages:
        nodes = [
            node_of(key, identifier(one.get("parentId")) or None, one)
            for key, one in messages.items()
            if isinstance(one, dict)
        ]
    elif flat := entries(chat.get("messages")):
        nodes = [
            node_of(key, identifier(one.get("parentId")) or before, one)
            for key, before, one in chain(flat)
        ]
    else:
        raise UnreadableConversation(gettext("it has no readable messages"))
    return SourceConversation(
        "open-webui",
        identifier(document.get("id")) or identifier(chat.get("id")),
        string(document.get("title")) or string(chat.get("title")),
        nodes,
        identifier(history.get("currentId")) or None,
        moment(document.get("created_at")) or moment(chat.get("timestamp")),
        is_archived=document.get("archived") is True,
        is_pinned=document.get("pinned") is True,
        tags=tags_in(item(document, "meta").get("tags")),
    )


def node_of(key: str, parent: str | None, message: dict[str, Any]) -> SourceNode:
    role = SPEAKERS.get(string(message.get("role")))
    model = string(message.get("model"))[:100]
    at = moment(message.get("timestamp"))
    return SourceNode(
        key, parent, role, message_text(message), at, model, tuple(pictures_of(message))
    )


def message_text(message: dict[str, Any]) -> str:
    output = [one for one in entries(message.get("output")) if one.get("type") == "message"]
    said = paragraphs(
        string(part.get("text")) for one in output for part in entries(one.get("content"))
    )
    return paragraphs((said or paragraphs(content_of(message.get("content"))), *files_of(message)))


def content_of(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield DETAILS.sub("", content).strip()
    for part in entries(content):
        if part.get("type") == "text":
            yield string(part.get("text"))
        elif part.get("type") in ("image", "image_url"):
            yield left_out(gettext("Picture"))


def files_of(message: dict[str, Any]) -> Iterator[str]:
    for file in entries(message.get("files")):
        yield line_of(file)


def line_of(file: dict[str, Any]) -> str:
    name = string(file.get("name")) or string(item(file, "file").get("filename"))
    return left_out(gettext("Picture") if file.get("type") == "image" else gettext("File"), name)


def pictures_of(message: dict[str, Any]) -> Iterator[SourceFile]:
    """Yield the images that are attached to the message, usually as `data:` URLs."""
    for file in entries(message.get("files")):
        if file.get("type") == "image":
            yield SourceFile(string(file.get("url")), string(file.get("name")), line_of(file))
