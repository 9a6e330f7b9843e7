"""Attachments told in words: a block at the end of the message that they came with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape

from apps.agent.messages import Attachment, Message

TOLD_ROLES = frozenset({"user", "tool"})
"""What a model reads in its own messages, it begins to write itself."""


def described(message: Message, notes: Sequence[str] = ()) -> Message:
    """The message with what there is to know of its attachments, and then the notes."""
    if message.role not in TOLD_ROLES or not message.attachments:
        return message
    return with_text(message, "\n".join(("", block(message.attachments), *notes)))


def with_text(message: Message, text: str) -> Message:
    """The message with text at its end."""
    content = message.content
    if isinstance(content, str):
        return replace(message, content=f"{content}{text}")
    part: Mapping[str, str] = {"type": "text", "text": text}
    return replace(message, content=(*content, part))


def block(attachments: Sequence[Attachment]) -> str:
    lines = [line for attachment in attachments for line in entry(attachment)]
    return "\n".join(("<attachments>", *lines, "</attachments>"))


def entry(attachment: Attachment) -> Iterator[str]:
    """What came with its data has no URL."""
    yield "  <attachment>"
    yield element("title", attachment.title)
    yield element("type", attachment.type)
    if attachment.url is not None:
        yield element("url", attachment.url)
    if attachment.reference_url is not None:
        yield element("reference_url", attachment.reference_url)
    yield "  </attachment>"


def element(name: str, text: str) -> str:
    return f"    <{name}>{escape(text, quote=False)}</{name}>"
