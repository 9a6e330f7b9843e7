"""Stores the files in an agent's answer as the caller's files."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from apps.agent.messages import Attachment
from apps.capabilities.a2a_agents.cards import own_url
from apps.capabilities.a2a_agents.client import AgentClient
from apps.capabilities.a2a_agents.updates import Part
from apps.capabilities.mcp.calls.results import (
    MOST_ATTACHMENTS,
    Blob,
    decode_blob,
    store_attachments,
    type_of,
)
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.value_texts import one_line
from apps.errors import ToolError
from apps.manifest.servers import has_host
from apps.manifest.toolsets.attachments import AttachmentFilter
from apps.workspace.egress.fetch import name_in_address
from apps.workspace.media_types import media_type

UNKNOWN_TYPE = "application/octet-stream"


async def take_files(
    client: AgentClient, parts: Sequence[Part], wanted: AttachmentFilter, opening: Opening
) -> tuple[tuple[Attachment, ...], list[str]]:
    """Store the files of an answer. Return the attachments, and notes for the model about files
    that could not be stored.

    Files on other servers are not downloaded, only linked.
    """
    blobs: list[Blob | None] = []
    links: list[Attachment] = []
    notes: list[str] = []
    for part in parts[:MOST_ATTACHMENTS]:
        url = part.url or ""
        if part.raw is not None or url.startswith("data:"):
            blobs.append(decode_blob(type_in(part), part.raw or url, stem_of(part)))
        elif (address := own_url(client.server, url)) is not None:
            try:
                content = await client.download(address, opening.loader.rules.limit)
            except ToolError as error:
                notes.append(f"A file was not loaded: {error}")
            else:
                blobs.append(Blob(type_of(content, type_in(part)), content, stem_of(part)))
        elif has_host(url) and url.lower().startswith(("http:", "https:")):
            links.append(Attachment(type_in(part), title_of(part), url=url, reference_url=url))
        else:
            notes.append(f"A file was not loaded: {one_line(url)!r} is not a URL.")
    if len(parts) > MOST_ATTACHMENTS:
        notes.append(f"Only the first {MOST_ATTACHMENTS} files were stored.")
    stored, problems = await store_attachments(blobs, client.name, wanted, opening)
    return (*stored, *links), [*notes, *problems]


def type_in(part: Part) -> str:
    return media_type(part.media_type or "") or UNKNOWN_TYPE


def title_of(part: Part) -> str:
    return one_line(part.filename or name_in_address(part.url or "") or "file")


def stem_of(part: Part) -> str:
    """Return the part's file name without its extension, or "" if there is none."""
    return PurePosixPath(part.filename or name_in_address(part.url or "")).stem
