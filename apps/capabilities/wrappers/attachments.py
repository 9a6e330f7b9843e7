"""Selects which attachments of a tool result are stored, and which of them the answer shows."""

import logging
import mimetypes
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from apps.agent.messages import Attachment
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Opening, PreparedTool
from apps.errors import FileRefused
from apps.manifest.toolsets.attachments import AttachmentFilter
from apps.outages import STORAGE, outage_of
from apps.workspace.loading.file_locations import locate_file
from apps.workspace.media_types import matches_any
from apps.workspace.stored_files import FileInfo

logger = logging.getLogger(__name__)

CANNOT_STORE = "The service can’t store files right now."
"""The error for the model if the file storage is unavailable. It replaces the storage's own error,
which asks the model to repeat the call.
"""


def with_attachments(tool: PreparedTool, wanted: AttachmentFilter) -> PreparedTool:
    """Return a tool whose attachments are filtered by type, and shown in the stage and the
    answer.
    """

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        result = await tool.work(opening, invocation)
        if not result.attachments and not result.propagated:
            return result
        kept = filter_attachments(result.attachments, wanted, tool.spec.name)
        for attachment in kept:
            invocation.stage.attach(attachment)
        chosen = filter_attachments(result.propagated, wanted, tool.spec.name)
        display = ShownAttachments.of(kept, wanted)
        shown = tuple(dict.fromkeys((*chosen, *display.listed)))
        return replace(result, attachments=kept, propagated=shown, pictures=display.inline)

    return replace(tool, work=work)


@dataclass(frozen=True, slots=True)
class ShownAttachments:
    """The attachments that an answer shows in its text (`inline`) and next to it (`listed`)."""

    inline: tuple[Attachment, ...]
    listed: tuple[Attachment, ...]

    @classmethod
    def of(cls, kept: Sequence[Attachment], wanted: AttachmentFilter) -> Self:
        # The text shows only stored files, because a page would load any other URL automatically.
        inline = tuple(
            a
            for a in kept
            if matches_any(a.type, wanted.propagate_types_to_text)
            and a.url is not None
            and locate_file(a.url).kind == "stored"
        )
        types = wanted.propagate_types_to_choice
        return cls(inline, tuple(a for a in kept if a not in inline and matches_any(a.type, types)))


async def keep_file(stem: str, content: bytes, kind: str, opening: Opening) -> Attachment:
    """Store a new file for the caller under a unique name. Raises `FileRefused` if it cannot be
    stored.
    """
    ending = mimetypes.guess_extension(kind) or ".bin"
    name = f"{stem}-{secrets.token_hex(4)}{ending}"
    info = await store_file(name, content, kind, opening)
    return Attachment(type=kind, title=f"{stem}{ending}", url=info.path)


async def store_file(name: str, content: bytes, kind: str, opening: Opening) -> FileInfo:
    """Store a file for the caller. Raises `FileRefused` on any failure, including an outage of the
    file storage, because the tool itself did not fail.
    """
    try:
        return await opening.workspace.files.keep(name, content, kind)
    except OSError as error:
        if outage_of(error) is not STORAGE:
            raise
        logger.error("Failed to store a file from a tool", exc_info=error)
        raise FileRefused(CANNOT_STORE) from error


def see_files(attachments: Sequence[Attachment]) -> str:
    """Return a sentence that names the attachments. It replaces an empty result, because models
    reject empty results.
    """
    names = ", ".join(one.title or one.type for one in attachments)
    return f"See attached files: {names}" if names else ""


SEE_PICTURES = "The picture was created and is shown to the user in the answer."


def filter_attachments(
    attachments: Sequence[Attachment], wanted: AttachmentFilter, tool_name: str
) -> tuple[Attachment, ...]:
    for attachment in attachments:
        if not attachment.type:
            logger.warning("Tool %s: dropped an attachment without a type", tool_name)
    return tuple(
        replace(a, type=wanted.media_type_substitution.get(a.type, a.type))
        for a in attachments
        if matches_any(a.type, wanted.supported_types)
    )
