"""Conversations that were exported here, or by another installation of this platform."""

from typing import Any

from django.utils.translation import gettext

from apps.chat.imports.tree import (
    SourceConversation,
    SourceNode,
    Speaker,
    entries,
    identifier,
    left_out,
    moment,
    paragraphs,
    string,
)

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
    )
