"""Converts answers and files to MCP content blocks."""

import base64
from collections.abc import Sequence
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from apps.agent.messages import Attachment
from apps.errors import FileRefused
from apps.mcp_server.answer import GatheredAnswer
from apps.mcp_server.resource_uris import path_of, uri_of
from apps.outages import outage_of
from apps.runs.failures import RunFailure
from apps.workspace.stored_files import FileContent, Files

INLINE_BYTES = 1024 * 1024
"""The maximum size in bytes of stored images and audio files that are embedded in the answer."""
MEDIA = ("image/", "audio/")
TEXTS = ("text/", "application/json", "application/xml", "application/yaml")
FAILURE_META = "quickapps/error"


async def answer_blocks(answer: GatheredAnswer, files: Files) -> list[types.ContentBlock]:
    """Return blocks for the text and the attachments of an answer."""
    blocks: list[types.ContentBlock] = []
    if answer.text or not answer.attachments:
        blocks.append(types.TextContent(text=answer.text))
    for number, attachment in enumerate(answer.attachments, start=1):
        blocks.append(await attachment_block(attachment, number, files))
    return blocks


async def attachment_block(attachment: Attachment, number: int, files: Files) -> types.ContentBlock:
    kind, title = attachment.type, attachment.title or f"Attachment {number}"
    if attachment.url is not None:
        found = await inline_file(attachment.url, kind, files)
        return found or types.ResourceLink(
            uri=uri_of(attachment.url), name=title, title=title, mime_type=kind
        )
    data = attachment.data or ""
    if kind.startswith(MEDIA):
        return media_block(kind, data)
    uri = attachment.reference_url or f"attachment:{number}"
    if kind.startswith(TEXTS):
        text = types.TextResourceContents(uri=uri, mime_type=kind, text=data)
        return types.EmbeddedResource(resource=text)
    if is_base64(data):
        blob = types.BlobResourceContents(uri=uri, mime_type=kind, blob=data)
        return types.EmbeddedResource(resource=blob)
    text = types.TextResourceContents(uri=uri, mime_type=kind, text=data)
    return types.EmbeddedResource(resource=text)


def is_base64(data: str) -> bool:
    try:
        base64.b64decode(data, validate=True)
    except ValueError:
        return False
    return True


async def inline_file(url: str, kind: str, files: Files) -> types.ContentBlock | None:
    """Return a small stored image or audio file as a content block. Return None for other files,
    which the answer only links to.
    """
    if not kind.startswith(MEDIA) or not path_of(uri_of(url)):
        return None
    try:
        found = await files.read(url, limit=INLINE_BYTES)
    except FileRefused:
        return None
    except OSError as error:
        if outage_of(error) is None:
            raise
        return None
    return media_block(kind, base64.b64encode(found.content).decode())


def media_block(kind: str, data: str) -> types.ContentBlock:
    if kind.startswith("image/"):
        return types.ImageContent(data=data, mime_type=kind)
    return types.AudioContent(data=data, mime_type=kind)


def file_contents(
    uri: str, file: FileContent
) -> types.TextResourceContents | types.BlobResourceContents:
    kind = file.info.content_type
    if kind.startswith(TEXTS):
        try:
            text = file.content.decode("utf-8-sig")
            return types.TextResourceContents(uri=uri, mime_type=kind, text=text)
        except UnicodeDecodeError:
            pass  # Text in another encoding is sent as bytes.
    blob = base64.b64encode(file.content).decode()
    return types.BlobResourceContents(uri=uri, mime_type=kind, blob=blob)


def answer_result(
    answer: GatheredAnswer, blocks: Sequence[types.ContentBlock]
) -> types.CallToolResult:
    usage = {"input_tokens": answer.usage.input, "output_tokens": answer.usage.output}
    written = {"text": answer.text, "finish_reason": answer.reason, "usage": usage}
    return types.CallToolResult(content=[*blocks], structured_content=written)


def failure_error(found: RunFailure) -> MCPError:
    """Convert a failure to a JSON-RPC error."""
    code = types.INTERNAL_ERROR if found.status >= 500 else types.INVALID_REQUEST
    about: dict[str, Any] = {"code": found.code}
    if found.retry_after is not None:  # The headers of a stream have already been sent.
        about["retry_after_seconds"] = found.retry_after
    return MCPError(code, found.text, about)


def failure_result(found: RunFailure) -> types.CallToolResult:
    """Convert a failure to a tool result, which the client's model can read."""
    about: dict[str, Any] = {"code": found.code, "status": found.status}
    if found.retry_after is not None:
        about["retry_after_seconds"] = found.retry_after
    return types.CallToolResult(
        content=[types.TextContent(text=found.text)], is_error=True, _meta={FAILURE_META: about}
    )
