"""What the page sends: one frame of the socket at a time, read and checked."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from apps.errors import Refused

LARGEST_FRAME_BYTES = 1024 * 1024
LARGEST_NUMBER = 2**53 - 1
"""JavaScript counts exactly up to here."""


class Frame(BaseModel):
    model_config = ConfigDict(frozen=True)


class Open(Frame):
    """Follow a conversation; `after` is the number of the newest event that the page has."""

    type: Literal["open"]
    conversation: UUID
    after: int = Field(default=0, ge=0, le=LARGEST_NUMBER)


class Ask(Frame):
    """`id` is the page's own: a frame that was sent again is recognised by it."""

    type: Literal["ask"]
    id: UUID
    text: str
    conversation: UUID | None = None


class Stop(Frame):
    type: Literal["stop"]


ClientFrame = Open | Ask | Stop
_client_frame: TypeAdapter[ClientFrame] = TypeAdapter(
    Annotated[ClientFrame, Field(discriminator="type")]
)


def read(frame: str | bytes) -> ClientFrame:
    """Raises `Refused` with a sentence that names the field."""
    if isinstance(frame, bytes):
        raise Refused("bad_frame", "Frames are JSON texts; this one is binary.")
    if is_too_large(frame):
        raise Refused("too_large", "A frame may have at most 1 MiB; send a shorter text.")
    try:
        return _client_frame.validate_json(frame)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in problem["loc"])
        text = f"{place}: {problem['msg']}" if place else problem["msg"]
        raise Refused("bad_frame", f"The frame cannot be read. {text}.") from error


def is_too_large(frame: str) -> bool:
    if len(frame) * 4 <= LARGEST_FRAME_BYTES:
        return False
    return len(frame.encode("utf-8", "surrogatepass")) > LARGEST_FRAME_BYTES
