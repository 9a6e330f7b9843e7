"""A service that makes pictures, asked as a model: the question describes a picture, and the answer
is the picture, kept among the caller's files."""

import mimetypes
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from apps.agent.events import AttachmentAdded, Usage
from apps.agent.messages import Attachment, Message
from apps.agent.model import Delta, Finish, ModelRequest
from apps.errors import FileRefused, ModelFailed
from apps.workspace.stored_files import Files

OPTIONS = frozenset(
    {"background", "moderation", "output_compression", "output_format", "quality", "size", "style"}
)
"""Arguments of a tool that are for the service; other parameters of a run are for chat models."""
TITLE_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class Pictures:
    """Pictures as bytes, each with its MIME type."""

    contents: tuple[tuple[bytes, str], ...]
    usage: Usage | None = None


class PictureService(Protocol):
    async def make(self, prompt: str, options: Mapping[str, Any]) -> Pictures:
        """At least one picture. Raises `ModelFailed`."""
        ...


@dataclass(frozen=True, slots=True)
class ImageModel:
    """`parameters` go into every request. New files are kept in `files`."""

    service: PictureService
    files: Files
    parameters: Mapping[str, Any] = field(default_factory=dict)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Raises `ModelFailed`."""
        prompt = prompt_of(request.messages)
        made = await self.service.make(prompt, {**self.parameters, **options_of(request)})
        for content, kind in made.contents:
            yield [AttachmentAdded(await self.keep(content, kind, title_of(prompt)))]
        yield [Finish("stop"), *((made.usage,) if made.usage else ())]

    async def keep(self, content: bytes, kind: str, title: str) -> Attachment:
        """Raises `ModelFailed`."""
        name = f"picture-{secrets.token_hex(6)}{mimetypes.guess_extension(kind) or '.bin'}"
        try:
            info = await self.files.keep(name, content, kind)
        except FileRefused as error:
            raise ModelFailed(
                f"The picture could not be stored: {error}", reason="stream", display=str(error)
            ) from error
        return Attachment(kind, title, url=info.path)


def prompt_of(messages: Sequence[Message]) -> str:
    """The text of the newest question. Raises `ModelFailed` for none."""
    asked = next((m.text.strip() for m in reversed(messages) if m.role == "user"), "")
    if not asked:
        text = "Describe the picture that you want."
        raise ModelFailed("The picture has no description.", reason="stream", display=text)
    return asked


def options_of(request: ModelRequest) -> dict[str, Any]:
    """What a tool sent as parameters or as configuration."""
    given = request.parameters
    configuration = (given.get("custom_fields") or {}).get("configuration") or {}
    return {n: v for n, v in given.items() if n in OPTIONS} | dict(configuration)


def title_of(prompt: str) -> str:
    words = " ".join(prompt.split())
    return words if len(words) <= TITLE_CHARACTERS else f"{words[: TITLE_CHARACTERS - 1]}…"
