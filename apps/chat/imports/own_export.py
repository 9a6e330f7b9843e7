"""Reads the conversations in JSON exports from this or another QuickApps installation."""

from datetime import datetime
from typing import Any

from django.utils.translation import gettext

from apps.chat.imports.exported_values import (
    entries,
    identifier,
    item,
    left_out,
    moment,
    paragraphs,
    string,
    tags_in,
)
from apps.chat.imports.tree import LONGEST_TITLE, SourceConversation, SourceNode, Speaker
from apps.conversations.senders import CONTINUATION

SENDERS = frozenset({"webhook", "schedule", "alarm"})
SPEAKERS: dict[str, Speaker] = {"user": "user", "assistant": "assistant"}


def is_own(document: dict[str, Any]) -> bool:
    return "leaf" in document and "messages" in document


def read(document: dict[str, Any]) -> SourceConversation:
    return SourceConversation(
        "quickapps",
        identifier(document.get("id")),
        string(document.get("title")),
        [
            node_of(key, one)
            for one in entries(document.get("messages"))
            if (key := identifier(one.get("id")))
        ],
        identifier(document.get("leaf")) or None,
        moment(document.get("created_at")),
        tags=tags_in(document.get("tags")),
    )


def node_of(key: str, message: dict[str, Any]) -> SourceNode:
    files = [
        left_out(gettext("File"), string(one.get("title")) or string(one.get("url")))
        for one in entries(message.get("attachments"))
    ]
    models = message.get("models")
    model = string(models[0])[:100] if isinstance(models, list) and models else ""
    return SourceNode(
        key,
        identifier(message.get("parent")) or None,
        SPEAKERS.get(string(message.get("role"))),
        paragraphs((string(message.get("text")), *files)),
        moment(message.get("created_at")),
        model,
        sender=sender_of(item(message, "sender")) if message.get("role") == "user" else None,
    )


def sender_of(written: dict[str, Any]) -> dict[str, Any] | None:
    """Return the message's automatic sender, such as a schedule, or None for a user's message. The
    result is marked as untrusted, because anyone can edit the file.
    """
    kind = string(written.get("kind"))
    if kind == CONTINUATION["kind"]:
        return dict(CONTINUATION)
    if kind not in SENDERS:
        return None
    title = " ".join(string(written.get("title")).split())[:LONGEST_TITLE]
    sender: dict[str, Any] = {"kind": kind, "title": title, "untrusted": True}
    at = written.get("at")
    if moment(at) is not None and isinstance(at, str):
        sender["at"] = datetime.fromisoformat(
            at.strip()
        ).isoformat()  # In the time zone of the schedule.
    return sender
