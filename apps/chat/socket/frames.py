"""Defines and parses the frames that the page sends over its WebSocket."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from apps.conversations.ask import LONGEST_SLUG, Ask
from apps.conversations.interactions.answer_frames import Answer, AnswerFrame
from apps.doors.bodies import LARGEST_FRAME_BYTES, first_problem
from apps.errors import Refused, TooLarge
from apps.integers import LARGEST_EXACT
from apps.live.subagent_rows import LONGEST_SUBAGENT_KEY


class Frame(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class OpenFrame(Frame):
    """Opens a conversation in the tab, or closes the open one if `conversation` is null."""

    type: Literal["open"]
    conversation: UUID | None
    application: str = Field(default="", max_length=LONGEST_SLUG)
    """The slug of the conversation's application, or "" if it is unchanged."""
    after: int = Field(default=0, ge=0, le=LARGEST_EXACT)
    """The number of the last event that the page has received."""
    window: bool = False
    """If true, the server first sends the last turns in one frame."""


class AskFrame(Ask):
    type: Literal["ask"]


class BranchSwitch(Frame):
    """Switches all tabs to the newest branch that contains this message."""

    type: Literal["branch.switch"]
    conversation: UUID
    message: UUID


class TurnDelete(Frame):
    """Permanently deletes a question with its answers. Later questions remain."""

    type: Literal["turn.delete"]
    conversation: UUID
    message: UUID


class StopFrame(Frame):
    type: Literal["stop"]


class SubagentStop(Frame):
    """Stops one sub-agent. The answer continues without it."""

    type: Literal["helper.stop"]
    key: str = Field(max_length=LONGEST_SUBAGENT_KEY)


class WatchFrame(Frame):
    """Subscribes to changes in the conversation list, folders, notifications and the queue."""

    type: Literal["watch"]


class Visibility(Frame):
    """Reports whether the page is hidden. Answers that end while it is hidden count as unseen."""

    type: Literal["visibility"]
    hidden: bool


class QueueChange(Frame):
    """Changes the text of a queued message, or pauses or resumes it (`held`)."""

    type: Literal["queue.change"]
    id: UUID
    text: str | None = None
    held: bool | None = None


class QueueRemove(Frame):
    type: Literal["queue.remove"]
    id: UUID


class QueueSend(Frame):
    """Stops the running answer, and sends this queued message next."""

    type: Literal["queue.send"]
    id: UUID


QueueFrame = QueueChange | QueueRemove | QueueSend
BranchFrame = BranchSwitch | TurnDelete
OtherFrame = (
    OpenFrame
    | AskFrame
    | StopFrame
    | SubagentStop
    | WatchFrame
    | Visibility
    | QueueFrame
    | BranchFrame
)
ClientFrame = OtherFrame | AnswerFrame
_client_frame: TypeAdapter[ClientFrame] = TypeAdapter(
    Annotated[OtherFrame | Answer, Field(discriminator="type")]
)


def read_frame(frame: str | bytes) -> ClientFrame:
    """Parse a frame. Raises `Refused` with the name of the first invalid field."""
    if isinstance(frame, bytes):
        raise Refused("bad_frame", "The frame is binary. Send JSON as text.")
    if is_too_large(frame):
        raise TooLarge("too_large", "The frame is too large; the limit is 1 MiB.")
    try:
        return _client_frame.validate_json(frame)
    except ValidationError as error:
        raise Refused("bad_frame", f"The frame is not valid. {first_problem(error)}.") from error


def is_too_large(frame: str) -> bool:
    if len(frame) * 4 <= LARGEST_FRAME_BYTES:
        return False
    return len(frame.encode("utf-8", "surrogatepass")) > LARGEST_FRAME_BYTES
