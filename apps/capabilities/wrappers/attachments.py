"""The one place that decides which attachments of a tool survive, and which the answer shows."""

import logging
import mimetypes
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from apps.agent.messages import Attachment
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.manifest.attachments import AttachmentFilter
from apps.workspace.loading.places import place_of
from apps.workspace.media_types import matches

logger = logging.getLogger(__name__)


def with_attachments(tool: PreparedTool, wanted: AttachmentFilter) -> PreparedTool:
    """Filter by type, give the survivors their types, show them in the stage and on the answer."""

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        result = await tool.work(opening, invocation)
        if not result.attachments and not result.propagated:
            return result
        kept = filtered(result.attachments, wanted, tool.spec.name)
        for attachment in kept:
            invocation.stage.attach(attachment)
        chosen = filtered(result.propagated, wanted, tool.spec.name)
        places = Places.of(kept, wanted)
        shown = tuple(dict.fromkeys((*chosen, *places.beside)))
        return replace(result, attachments=kept, propagated=shown, pictures=places.inside)

    return replace(tool, work=work)


@dataclass(frozen=True, slots=True)
class Places:
    """The attachments that an answer shows: `inside` its text or `beside` it."""

    inside: tuple[Attachment, ...]
    beside: tuple[Attachment, ...]

    @classmethod
    def of(cls, kept: Sequence[Attachment], wanted: AttachmentFilter) -> Self:
        # Only stored files: whoever shows the text would load another address unasked.
        inside = tuple(
            a
            for a in kept
            if matches(a.type, wanted.propagate_types_to_text)
            and a.url is not None
            and place_of(a.url).kind == "stored"
        )
        types = wanted.propagate_types_to_choice
        return cls(inside, tuple(a for a in kept if a not in inside and matches(a.type, types)))


async def keep_file(stem: str, content: bytes, kind: str, opening: Opening) -> Attachment:
    """A new file of the caller's. Raises `FileRefused`."""
    ending = mimetypes.guess_extension(kind) or ".bin"
    name = f"{stem}-{secrets.token_hex(4)}{ending}"
    info = await opening.workspace.files.keep(name, content, kind)
    return Attachment(type=kind, title=f"{stem}{ending}", url=info.path)


def see_files(attachments: Sequence[Attachment]) -> str:
    """Stands for the text of a result that has none, since models refuse an empty one."""
    names = ", ".join(one.title or one.type for one in attachments)
    return f"See attached files: {names}" if names else ""


SEE_PICTURES = "The picture has been made and is shown to the user in the answer."


def filtered(
    attachments: Sequence[Attachment], wanted: AttachmentFilter, tool_name: str
) -> tuple[Attachment, ...]:
    for attachment in attachments:
        if not attachment.type:
            logger.warning("Tool %s: an attachment without a type is dropped", tool_name)
    return tuple(
        replace(a, type=wanted.media_type_substitution.get(a.type, a.type))
        for a in attachments
        if matches(a.type, wanted.supported_types)
    )
