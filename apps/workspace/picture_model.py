"""Defines a model that generates images. The user's message describes an image. The answer contains
the image, which is stored in the caller's files.
"""

import asyncio
import base64
import logging
import mimetypes
import re
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Protocol

import filetype

from apps.agent.events import AttachmentAdded, Usage
from apps.agent.messages import Attachment, ModelMessage
from apps.agent.model import Delta, Finish, ModelRequest, WritingModel
from apps.demo.placeholder import draw
from apps.errors import FileRefused, ModelFailed
from apps.workspace.stored_files import Files

OPTIONS = frozenset(
    {"background", "moderation", "output_compression", "output_format", "quality", "size", "style"}
)
"""Only these request parameters are sent to the image service. All others apply only to chat
models.
"""
TITLE_CHARACTERS = 80
USUAL_SIZE = (1024, 1024)
_size = re.compile(r"(\d{2,4})x(\d{2,4})")
logger = logging.getLogger(__name__)

PICTURE_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})


@dataclass(frozen=True, slots=True)
class Pictures:
    """The images that a service returned, as bytes, each with its MIME type."""

    contents: tuple[tuple[bytes, str], ...]
    usage: Usage | None = None


class PictureService(Protocol):
    async def make(self, prompt: str, options: Mapping[str, Any]) -> Pictures:
        """Return at least one image for the prompt. Raises `ModelFailed` if the service fails."""
        ...


@dataclass(frozen=True, slots=True)
class ImageModel:
    """A model that answers with images. The `parameters` are sent with every request, and the
    images are stored in `files`.
    """

    service: PictureService
    files: Files
    parameters: Mapping[str, Any] = field(default_factory=dict)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Store the images as files, and yield the answer, which refers to them. Raises
        `ModelFailed` if the service fails.
        """
        prompt = prompt_of(request.messages)
        made = await self.service.make(prompt, {**self.parameters, **options_of(request)})
        for content, kind in made.contents:
            stored = await keep_picture(self.files, content, kind, title_of(prompt))
            yield [AttachmentAdded(stored)]
        yield [Finish("stop"), *((made.usage,) if made.usage else ())]


def prompt_of(messages: Sequence[ModelMessage]) -> str:
    """Return the text of the user's latest message. Raises `ModelFailed` if it has none."""
    question = next((m.text.strip() for m in reversed(messages) if m.role == "user"), "")
    if not question:
        text = "Describe the picture that you want."
        raise ModelFailed("The image has no description.", reason="stream", display=text)
    return question


def options_of(request: ModelRequest) -> dict[str, Any]:
    """Return the options for the image service: the request parameters listed in `OPTIONS`,
    overridden by the configuration that a tool sends with the request.
    """
    parameters = request.parameters
    configuration = (parameters.get("custom_fields") or {}).get("configuration") or {}
    return {n: v for n, v in parameters.items() if n in OPTIONS} | dict(configuration)


def title_of(prompt: str) -> str:
    words = " ".join(prompt.split())
    return words if len(words) <= TITLE_CHARACTERS else f"{words[: TITLE_CHARACTERS - 1]}…"


class Placeholders:
    """An image service that returns placeholder images, for installations without an image model."""

    async def make(self, prompt: str, options: Mapping[str, Any]) -> Pictures:
        width, height = size_of(options.get("size"))
        content = await asyncio.to_thread(draw, prompt, width, height)
        return Pictures(((content, "image/png"),))


def size_of(written: object) -> tuple[int, int]:
    """Return the width and height in pixels for a text such as `1024x1792`, or `USUAL_SIZE` for any
    other value.
    """
    found = _size.fullmatch(str(written))
    return (int(found[1]), int(found[2])) if found else USUAL_SIZE


@dataclass(frozen=True, slots=True)
class PictureKeeper:
    """Wraps a chat model that may generate images. Images that the model sends as data are stored
    as files.

    An image of an unsupported type, such as SVG, is omitted.
    """

    model: WritingModel
    files: Files

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Call the model, and yield its answer with images stored as files. Raises `ModelFailed` if
        the service rejects the request or fails.
        """
        async with aclosing(self.model.stream(request)) as batches:
            async for batch in batches:
                if any(map(is_picture, batch)):
                    batch = [
                        stored for delta in batch if (stored := await self.store_picture(delta))
                    ]
                yield batch

    def write(self, request: ModelRequest) -> bytes:
        return self.model.write(request)

    async def store_picture(self, delta: Delta) -> Delta | None:
        """Return the delta with its image stored as a file, or None if the image is omitted. Raises
        `ModelFailed` if the image cannot be stored.
        """
        if not isinstance(delta, AttachmentAdded) or not is_picture(delta):
            return delta
        try:
            content = base64.b64decode(delta.attachment.data or "", validate=True)
            kind = picture_type(content)
        except (ValueError, ModelFailed) as error:
            logger.warning("Dropped an image from a model: %s", error)
            return None
        stored = await keep_picture(self.files, content, kind, delta.attachment.title)
        return AttachmentAdded(stored)


def is_picture(delta: Delta) -> bool:
    return (
        isinstance(delta, AttachmentAdded)
        and delta.attachment.type.startswith("image/")
        and delta.attachment.data is not None
    )


async def keep_picture(files: Files, content: bytes, kind: str, title: str) -> Attachment:
    """Store an image in the caller's files, and return it as an attachment. Raises `ModelFailed` if
    it cannot be stored.
    """
    name = f"picture-{secrets.token_hex(6)}{mimetypes.guess_extension(kind) or '.bin'}"
    try:
        info = await files.keep(name, content, kind)
    except FileRefused as error:
        raise ModelFailed(
            f"The image could not be stored: {error}", reason="stream", display=str(error)
        ) from error
    return Attachment(kind, title, url=info.path)


def picture_type(content: bytes) -> str:
    """Return the MIME type of an image, detected from its first bytes. Raises `ModelFailed` if the
    content is not an image.
    """
    kind = filetype.guess_mime(content)
    if kind not in PICTURE_TYPES:
        raise unusable("a file that is not an image")
    return str(kind)


def unusable(what: str) -> ModelFailed:
    return ModelFailed(f"The model's service sent {what}.", reason="stream")
