"""Pictures of models, kept among the caller's files."""

import base64
import logging
import mimetypes
import secrets
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import filetype

from apps.agent.events import AttachmentAdded
from apps.agent.messages import Attachment
from apps.agent.model import Delta, ModelRequest, WritingModel
from apps.errors import FileRefused, ModelFailed
from apps.workspace.stored_files import Files

logger = logging.getLogger(__name__)

PICTURE_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})


@dataclass(frozen=True, slots=True)
class PictureKeeper:
    """A chat model that may draw: its pictures, which it sends as data, become files.

    A picture of a kind that is not taken, such as SVG, is left out: the text stands without it.
    """

    model: WritingModel
    files: Files

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Raises `ModelFailed`."""
        async with aclosing(self.model.stream(request)) as batches:
            async for batch in batches:
                if any(map(is_picture, batch)):
                    batch = [kept for delta in batch if (kept := await self.kept(delta))]
                yield batch

    def write(self, request: ModelRequest) -> bytes:
        return self.model.write(request)

    async def kept(self, delta: Delta) -> Delta | None:
        """None for a picture that is left out. Raises `ModelFailed`."""
        if not isinstance(delta, AttachmentAdded) or not is_picture(delta):
            return delta
        try:
            content = base64.b64decode(delta.attachment.data or "", validate=True)
            kind = picture_type(content)
        except (ValueError, ModelFailed) as error:
            logger.warning("A picture of a model is left out: %s", error)
            return None
        kept = await keep_picture(self.files, content, kind, delta.attachment.title)
        return AttachmentAdded(kept)


def is_picture(delta: Delta) -> bool:
    return (
        isinstance(delta, AttachmentAdded)
        and delta.attachment.type.startswith("image/")
        and delta.attachment.data is not None
    )


async def keep_picture(files: Files, content: bytes, kind: str, title: str) -> Attachment:
    """The new file. Raises `ModelFailed`."""
    name = f"picture-{secrets.token_hex(6)}{mimetypes.guess_extension(kind) or '.bin'}"
    try:
        info = await files.keep(name, content, kind)
    except FileRefused as error:
        raise ModelFailed(
            f"The picture could not be stored: {error}", reason="stream", display=str(error)
        ) from error
    return Attachment(kind, title, url=info.path)


def picture_type(content: bytes) -> str:
    """The MIME type by the first bytes, whatever the service says. Raises `ModelFailed`."""
    kind = filetype.guess_mime(content)
    if kind not in PICTURE_TYPES:
        raise unusable("something that is no picture")
    return str(kind)


def unusable(what: str) -> ModelFailed:
    return ModelFailed(f"The model's service sent {what}.", reason="stream")
