"""Reads conversations from LibreChat exports: flat lists of messages, or messages with nested
replies.
"""

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
)
from apps.chat.imports.tree import SourceConversation, SourceNode, UnreadableConversation

NO_PARENT = "00000000-0000-0000-0000-000000000000"


def is_librechat(document: dict[str, Any]) -> bool:
    return "conversationId" in document and ("messages" in document or "messagesTree" in document)


def read(document: dict[str, Any]) -> SourceConversation:
    """Convert a LibreChat conversation. Raises `UnreadableConversation` if it has no messages."""
    messages = entries(document.get("messagesTree")) or entries(document.get("messages"))
    if not messages:
        raise UnreadableConversation(gettext("it has no readable messages"))
    nodes = list(
        flatten_messages(messages) if any("children" in one for one in messages) else flat(messages)
    )
    newest = max((node for node in nodes if node.at), key=lambda node: node.at or 0, default=None)
    return SourceConversation(
        "librechat",
        identifier(document.get("conversationId")),
        string(document.get("title")),
        nodes,
        None if newest is None else newest.id,
        next((node.at for node in nodes if node.at), None),
    )


def flat(messages: list[dict[str, Any]]) -> Iterator[SourceNode]:
    """Yield the messages in a flat list as nodes. If no message contains a parent ID, each message
    follows the previous one, as in old exports.
    """
    if any("parentMessageId" in one for one in messages):
        for index, one in enumerate(messages):
            parent = identifier(one.get("parentMessageId"))
            key = identifier(one.get("messageId")) or f"message {index}"
            yield node_of(key, None if parent == NO_PARENT else parent or None, one)
    else:
        for key, before, one in chain(messages):
            yield node_of(key, before, one)


def flatten_messages(messages: list[dict[str, Any]]) -> Iterator[SourceNode]:
    waiting: list[tuple[str | None, dict[str, Any]]] = [(None, one) for one in reversed(messages)]
    count = 0
    while waiting:
        parent, one = waiting.pop()
        count += 1
        key = identifier(one.get("messageId")) or f"message {count}"
        yield node_of(key, parent, one)
        waiting += [(key, child) for child in reversed(entries(one.get("children")))]


def node_of(key: str, parent: str | None, message: dict[str, Any]) -> SourceNode:
    is_user = message.get("isCreatedByUser") is True or string(message.get("sender")) == "User"
    text = paragraphs((*message_texts(message), *files_of(message)))
    model = "" if is_user else string(message.get("model"))[:100]
    at = moment(message.get("createdAt"))
    return SourceNode(key, parent, "user" if is_user else "assistant", text, at, model)


def message_texts(message: dict[str, Any]) -> Iterator[str]:
    """Yield the message's texts, without the model's reasoning and tool calls."""
    parts = entries(message.get("content"))
    if not parts:
        yield string(message.get("text"))
    for part in parts:
        kind = part.get("type")
        if kind == "text":
            written = part.get("text")
            yield string(item(part, "text").get("value") if isinstance(written, dict) else written)
        elif kind in ("image_file", "image_url"):
            yield left_out(gettext("Picture"))
        elif kind == "error":
            yield left_out(gettext("Error"))


def files_of(message: dict[str, Any]) -> Iterator[str]:
    for file in entries(message.get("files")):
        is_picture = string(file.get("type")).startswith("image/")
        yield left_out(
            gettext("Picture") if is_picture else gettext("File"), string(file.get("filename"))
        )
