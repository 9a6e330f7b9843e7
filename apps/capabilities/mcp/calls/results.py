"""Converts a server's result to a tool result, and stores its data as the caller's files."""

import base64
import binascii
import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

import filetype
import mcp_types as types

from apps.agent.messages import Attachment
from apps.agent.stages import Stage
from apps.agent.tools import ToolResult
from apps.capabilities.mcp.messages.structured_content import BINARY_TYPE, without_binary
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.attachments import keep_file, see_files
from apps.capabilities.wrappers.value_texts import (
    STAGE_CHARACTERS,
    fence_code,
    one_line,
    shorten_text,
    value_text,
)
from apps.errors import FileRefused, ToolError
from apps.manifest.names import sanitize
from apps.manifest.toolsets.attachments import AttachmentFilter
from apps.workspace.media_types import matches_any, media_type

logger = logging.getLogger(__name__)

MOST_ATTACHMENTS = 20
TEXT_TYPE = "text/plain"

_data_uri = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w.+=-]+)*?(;base64)?,", re.IGNORECASE)
_blank = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Blob:
    """Data from a result, to be stored as a file."""

    kind: str
    content: bytes = field(repr=False)
    stem: str = ""
    """The file name without its extension, or "" for the tool's name."""


async def make_result(
    answer: types.CallToolResult,
    tool_name: str,
    wanted: AttachmentFilter,
    opening: Opening,
    stage: Stage,
    failures: Iterable[str] = (),
) -> ToolResult:
    """Convert a server's result to a tool result. Raises `ToolError` if the server reports a
    failure.

    A result whose text begins with one of `failures` is a failure even without the error flag.
    """
    text = result_text(answer)
    if answer.is_error or failure_in(answer, failures):
        raise ToolError(text or "The tool failed without a reason.")
    attachments, notes = await store_attachments(
        blobs_of(answer.content), tool_name, wanted, opening
    )
    text = text or see_files(attachments)
    content = "\n\n".join(filter(None, [text, *notes])) or "The tool returned an empty result."
    stage.write(f"> #### Result:\n\n{fence_code(shorten_text(content, STAGE_CHARACTERS))}\n")
    return ToolResult(content, attachments=attachments)


def failure_in(answer: types.CallToolResult, beginnings: Iterable[str]) -> bool:
    """Return True if the text of the result begins with one of these prefixes, ignoring case."""
    said = tuple(one.strip().casefold() for one in beginnings if one.strip())
    return bool(said) and result_text(answer).lstrip().casefold().startswith(said)


def result_text(answer: types.CallToolResult) -> str:
    """Return a result's text, or its structured content if there is neither text nor a file.
    Structured content usually repeats the text.
    """
    texts = list(filter(None, map(text_in, answer.content)))
    if texts or any(map(has_blob, answer.content)) or answer.structured_content is None:
        return "\n\n".join(texts)
    return value_text(without_binary(answer.structured_content))


def text_in(block: types.ContentBlock) -> str:
    if isinstance(block, types.TextContent):
        return block.text
    if isinstance(block, types.ResourceLink):
        kind = f", {block.mime_type}" if block.mime_type else ""
        about = f": {block.description}" if block.description else ""
        return f"Resource {block.title or block.name} ({block.uri}{kind}){about}"
    if not isinstance(block, types.EmbeddedResource):
        return ""
    if isinstance(block.resource, types.TextResourceContents):
        return block.resource.text
    blob = blob_of(block.resource) if is_text(block.resource.mime_type or "") else None
    return decoded_text(blob.content) if blob is not None else ""


def is_text(kind: str) -> bool:
    named = kind.partition(";")[0].strip().lower()
    return named.startswith("text/") or named == "application/json"


def decoded_text(content: bytes) -> str:
    """Decode UTF-8. Return "" for any other encoding; such content is only stored as a file."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return ""


def blobs_of(content: Iterable[types.ContentBlock]) -> Iterator[Blob | None]:
    """Yield the data of each image, audio file or resource, or None if decoding fails."""
    for block in content:
        if isinstance(block, types.ImageContent | types.AudioContent):
            yield decode_blob(block.mime_type, block.data)
        elif isinstance(block, types.EmbeddedResource):
            yield blob_of(block.resource)


def has_blob(block: types.ContentBlock) -> bool:
    """Return True if the block contains data other than text, even an empty file."""
    if isinstance(block, types.ImageContent | types.AudioContent):
        return bool(block.data)
    return isinstance(block, types.EmbeddedResource)


def blob_of(resource: types.TextResourceContents | types.BlobResourceContents) -> Blob | None:
    if isinstance(resource, types.TextResourceContents):
        kind = resource.mime_type or TEXT_TYPE
        return Blob(kind, resource.text.encode("utf-8", "replace"))
    return decode_blob(resource.mime_type or BINARY_TYPE, resource.blob)


def decode_blob(kind: str, data: str, stem: str = "") -> Blob | None:
    """Decode any variant of base64, or a `data:` URI, whose media type overrides `kind`. Return
    None if the data is neither.
    """
    if found := _data_uri.match(data):
        kind, content = found[1] or kind, unquote_to_bytes(data[found.end() :])
        if not found[2]:
            return Blob(type_of(content, kind), content, stem)
        data = content.decode("latin-1")
    text = _blank.sub("", data).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        content = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
    return Blob(type_of(content, kind), content, stem)


def type_of(content: bytes, stated: str) -> str:
    """Detect the type of an image or audio file from its first bytes. For other content, return the
    declared type.

    Content that is only declared to be an image is treated as binary data.
    """
    main, _, rest = stated.lower().partition("/")
    if main not in ("image", "audio") and stated.lower() != BINARY_TYPE:
        return stated
    found = str(filetype.guess_mime(content) or "")
    if found and (found.startswith(f"{main}/") or stated.lower() == BINARY_TYPE):
        return found
    if main == "image" and not (rest == "svg+xml" and b"<svg" in content):
        return found or BINARY_TYPE
    return BINARY_TYPE if rest == "*" else stated


async def store_attachments(
    blobs: Iterable[Blob | None], tool_name: str, wanted: AttachmentFilter, opening: Opening
) -> tuple[tuple[Attachment, ...], list[str]]:
    """Store data of the allowed types as the caller's files. Return the attachments, and notes for
    the model about data that could not be stored.
    """
    attachments: list[Attachment] = []
    notes: list[str] = []
    for blob in blobs:
        if blob is None:
            notes.append("An attachment could not be read: its data is not base64.")
        elif not matches_any(blob.kind, wanted.supported_types):
            logger.info(
                "Tool %s: skipped an attachment of the type %s, which is not allowed",
                tool_name,
                blob.kind,
            )
        elif len(attachments) >= MOST_ATTACHMENTS:
            notes.append(f"Only the first {MOST_ATTACHMENTS} attachments were stored.")
            break
        else:
            try:
                kind = media_type(blob.kind)
                stem = sanitize(blob.stem or tool_name)
                attachments.append(await keep_file(stem, blob.content, kind, opening))
            except FileRefused as error:
                notes.append(f"An attachment of {one_line(blob.kind)} was not stored: {error}")
    return tuple(attachments), notes
