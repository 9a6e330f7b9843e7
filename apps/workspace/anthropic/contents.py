"""Converts the content of messages to content blocks for Anthropic's Messages API."""

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from apps.agent.messages import Attachment, ModelMessage

Block = dict[str, Any]

PICTURES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
PDF = "application/pdf"
DATA = "data:"


def text_block(text: str) -> Block:
    return {"type": "text", "text": text}


def message_blocks(message: ModelMessage) -> list[Block]:
    """Return the content of a message as blocks of text, images and documents."""
    content = message.content
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    blocks = [block for part in parts for block in part_blocks(part)]
    blocks += [block for item in message.attachments for block in attachment_blocks(item)]
    return without_blanks(blocks)


def without_blanks(blocks: Iterable[Block]) -> list[Block]:
    """Return the blocks without blank text blocks, which the API rejects."""
    return [block for block in blocks if block["type"] != "text" or block["text"].strip()]


def part_blocks(part: Mapping[str, Any]) -> Iterator[Block]:
    match part:
        case {"type": "text", "text": str(text)}:
            yield text_block(text)
        case {"type": "refusal", "refusal": str(text)}:
            yield text_block(text)
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            yield file_block(url, "")
        case {"type": "file", "file": {"file_data": str(url), **rest}}:
            yield file_block(url, str(rest.get("filename") or ""))
        case _:
            yield text_block(f"[This model cannot read a part of the type {part.get('type')!r}.]")


def attachment_blocks(attachment: Attachment) -> Iterator[Block]:
    """Yield the attachment's blocks. A stored file has none, because the service cannot fetch it."""
    kind, title = attachment.type, attachment.title
    if attachment.url is not None:
        if attachment.url.startswith((DATA, "https://", "http://")):
            yield file_block(attachment.url, title, kind)
    elif attachment.data and kind.startswith("text/"):
        yield text_block(f"{title}:\n{attachment.data}" if title else attachment.data)
    elif attachment.data:
        yield file_block(f"data:{kind};base64,{attachment.data}", title)


def file_block(url: str, title: str, kind: str = "") -> Block:
    """Return an image or document block for a URL or a data: URI, or a note for a type that the API
    does not support.
    """
    if not url.startswith(DATA):
        block_type = "document" if kind == PDF else "image"
        return add_title({"type": block_type, "source": {"type": "url", "url": url}}, title)
    head, _, data = url.removeprefix(DATA).partition(",")
    kind, is_base64 = head.partition(";")[0].lower(), head.endswith(";base64")
    kind = "image/jpeg" if kind == "image/jpg" else kind
    if is_base64 and (kind in PICTURES or kind == PDF):
        source = {"type": "base64", "media_type": kind, "data": data}
        block_type = "document" if kind == PDF else "image"
        return add_title({"type": block_type, "source": source}, title)
    if kind.startswith("text/"):
        text = decode_base64(data, is_base64=is_base64)
        source = {"type": "text", "media_type": "text/plain", "data": text}
        return add_title({"type": "document", "source": source}, title)
    return text_block(f"[This model cannot read {title or 'a file'} of the type {kind!r}.]")


def add_title(block: Block, title: str) -> Block:
    """Return the block with the title. Images remain unchanged, because the API does not support
    titles for them.
    """
    return {**block, "title": title} if title and block["type"] == "document" else block


def decode_base64(data: str, *, is_base64: bool) -> str:
    try:
        content = base64.b64decode(data) if is_base64 else unquote_to_bytes(data)
    except ValueError:
        return ""
    return content.decode("utf-8", "replace")
