"""Reads conversations from ChatGPT exports (`conversations.json`). Each conversation is a tree of
nodes with IDs.
"""

import re
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext

from apps.chat.imports.exported_values import (
    entries,
    fenced,
    identifier,
    item,
    left_out,
    moment,
    paragraphs,
    string,
)
from apps.chat.imports.tree import (
    SourceConversation,
    SourceFile,
    SourceNode,
    Speaker,
    UnreadableConversation,
)

CITATION = re.compile("\ue200[^\ue200\ue201]{0,2000}\ue201|【\\d+[:†][^】]{0,200}】")
"""Matches citation marks. Only ChatGPT's own page can resolve them."""
KEY = re.compile(r"file[-_](?!service:)[A-Za-z0-9]+")
"""Matches a file's ID, such as `file-8sJ2` or `file_8sJ2`, in URLs and file names."""
HIDDEN = frozenset(
    {
        "thoughts",
        "reasoning_recap",
        "user_editable_context",
        "model_editable_context",
        "tether_browsing_display",
    }
)
"""The content types that are not imported: the model's reasoning, browsing results and background
instructions.
"""
SPEAKERS: dict[str, Speaker] = {"user": "user", "assistant": "assistant", "tool": "assistant"}
PICTURES = ("image_asset_pointer", "image_url")


def is_chatgpt(document: dict[str, Any]) -> bool:
    return "mapping" in document


def read(document: dict[str, Any]) -> SourceConversation:
    """Convert a ChatGPT conversation. Raises `UnreadableConversation` if its `mapping` is not an
    object.
    """
    mapping = document["mapping"]
    if not isinstance(mapping, dict):
        raise UnreadableConversation(gettext("its `mapping` isn’t an object"))
    nodes = [node_of(key, written) for key, written in mapping.items() if isinstance(written, dict)]
    return SourceConversation(
        "chatgpt",
        identifier(document.get("conversation_id")) or identifier(document.get("id")),
        string(document.get("title")),
        nodes,
        identifier(document.get("current_node")) or None,
        moment(document.get("create_time")),
        is_archived=document.get("is_archived") is True,
        is_pinned=document.get("is_starred") is True,
    )


def node_of(key: str, written: dict[str, Any]) -> SourceNode:
    message, parent = item(written, "message"), identifier(written.get("parent")) or None
    role = SPEAKERS.get(string(item(message, "author").get("role")))
    text = message_text(message) if role is not None and is_visible(message) else ""
    model = string(item(message, "metadata").get("model_slug"))[:100]
    at = moment(message.get("create_time"))
    return SourceNode(key, parent, role, text, at, model, tuple(files_of(message)))


def is_visible(message: dict[str, Any]) -> bool:
    if item(message, "metadata").get("is_visually_hidden_from_conversation") is True:
        return False
    # Messages to tools are not meant for users, except code and canvas documents.
    recipient = string(message.get("recipient")) or "all"
    return recipient in ("all", "python") or recipient.startswith("canmore.")


def message_text(message: dict[str, Any]) -> str:
    content, recipient = item(message, "content"), string(message.get("recipient"))
    kind = string(content.get("content_type"))
    text = paragraphs(parts_of(content)) or string(content.get("text"))
    if kind in HIDDEN or not text:
        return paragraphs(attachment_names(message))
    if kind == "code":
        is_call = recipient not in ("", "all", "python")
        return "" if is_call else fenced(text, string(content.get("language")))
    if kind == "execution_output" or recipient.startswith("canmore."):
        return fenced(text)
    if kind == "tether_quote":
        quoted = "\n".join(f"> {line}" for line in text.splitlines())
        return paragraphs((string(content.get("title")), quoted))
    if kind == "text" and item(message, "author").get("role") == "tool":
        return ""  # A tool's message to the model.
    return paragraphs((CITATION.sub("", text), *attachment_names(message)))


def parts_of(content: dict[str, Any]) -> Iterator[str]:
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else []:
        if isinstance(part, str):
            yield part.strip()
        elif isinstance(part, dict):
            kind = string(part.get("content_type"))
            if kind in PICTURES:
                yield left_out(gettext("Picture"))
            elif kind == "audio_transcription":
                yield string(part.get("text"))
            elif "audio" in kind:
                yield left_out(gettext("Audio"))
            else:
                yield string(part.get("text"))


def attachment_names(message: dict[str, Any]) -> Iterator[str]:
    for file in entries(item(message, "metadata").get("attachments")):
        if not is_picture(file):  # Images are also among the parts.
            yield left_out(gettext("File"), string(file.get("name")))


def is_picture(file: dict[str, Any]) -> bool:
    kind = string(file.get("mime_type")) or string(file.get("mimeType"))
    return kind.startswith("image/")


def files_of(message: dict[str, Any]) -> Iterator[SourceFile]:
    """Yield the message's images and attachments. A ZIP export can contain these files."""
    written = entries(item(message, "metadata").get("attachments"))
    names = {string(file.get("id")): string(file.get("name")) for file in written}
    for part in entries(item(message, "content").get("parts")):
        pointer = KEY.search(string(part.get("asset_pointer")))
        if pointer and string(part.get("content_type")) in PICTURES:
            key = pointer.group()
            yield SourceFile(key, names.get(key, ""), left_out(gettext("Picture")))
    for file in written:
        key, name = string(file.get("id")), string(file.get("name"))
        if key and not is_picture(file):
            yield SourceFile(key, name, left_out(gettext("File"), name))
