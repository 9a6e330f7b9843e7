"""A service that makes pictures, asked as a model: the question describes a picture, and the answer
is the picture, kept among the caller's files."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from apps.agent.events import AttachmentAdded, Usage
from apps.agent.messages import Message
from apps.agent.model import Delta, Finish, ModelRequest
from apps.errors import ModelFailed
from apps.workspace.images.kept_pictures import keep_picture
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
            kept = await keep_picture(self.files, content, kind, title_of(prompt))
            yield [AttachmentAdded(kept)]
        yield [Finish("stop"), *((made.usage,) if made.usage else ())]


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
