"""The frames that the page sends over its socket."""

from typing import Annotated, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from apps.accounts.caller import Surface
from apps.chat.answer_frames import Answer, AnswerFrame
from apps.errors import Refused, TooLarge
from apps.live.helper_rows import LONGEST_HELPER_KEY
from apps.manifest.narrative import LONGEST_NARRATIVE

LARGEST_FRAME_BYTES = 1024 * 1024
LARGEST_NUMBER = 2**53 - 1
"""JavaScript counts exactly up to here."""
LONGEST_PLACE = 100
LONGEST_SLUG = 50
MOST_ATTACHMENTS = 20
"""Files of one question."""


LONGEST_DEPLOYMENT = 100
STORABLE = r"^[^\x00]*$"
"""PostgreSQL has no NUL in texts."""
Effort = Annotated[str, Field(max_length=20, pattern=r"^[a-z]*$")]


class Frame(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Open(Frame):
    """Follow a conversation; `after` is the number of the newest event that the page has.

    Without a conversation none is followed. `application` is the slug of its application, if it is
    another than that of the socket or of the frame before.
    With `window` it gets the last turns at once, each as a whole, and only then single events.
    """

    type: Literal["open"]
    conversation: UUID | None
    application: str = Field(default="", max_length=LONGEST_SLUG)
    after: int = Field(default=0, ge=0, le=LARGEST_NUMBER)
    window: bool = False


class SentFile(Frame):
    """`url` is the path of a file that was uploaded, `files/…`."""

    url: str = Field(max_length=2000)


class Ask(Frame):
    """A question. The page chooses `id`, by which a frame that is sent again is recognised.

    A new conversation (`conversation` is None) gets the id `begin`, under which its files were
    uploaded. `timezone` is the browser's, such as Europe/Riga; "" for an unknown one. `surface` is
    `page` where scripts of the page run its tools. While an answer is going, the question is
    refused, queued, or asked at once in its place. `memory` is whether a new conversation may use
    what is remembered of its person; a `temporary` one never is, and is erased soon. `place` is the
    slug of the place where the person is, and `narrative` says what they look at there.
    `application` is as in `open`. `deployment` is the model that answers, one of those that the
    application offers: of a new conversation, or with `again` of this one answer.

    Three ids of messages begin another branch, or go on with one, and are never queued. `again` is a
    question that is answered once more, as it stands; `edits` a question in whose place this one stands
    on a branch of its own; `continues` the last answer, which was cut at its length. For `again` and
    `continues` nothing else of the message counts.
    """

    type: Literal["ask"]
    id: UUID
    text: str
    conversation: UUID | None = None
    begin: UUID | None = None
    attachments: tuple[SentFile, ...] = Field(default=(), max_length=MOST_ATTACHMENTS)
    timezone: str = ""
    surface: Surface = ""
    while_running: Literal["refuse", "queue", "stop"] = "refuse"
    memory: bool = True
    temporary: bool = False
    effort: Effort = ""
    deployment: str = Field(default="", max_length=LONGEST_DEPLOYMENT, pattern=STORABLE)
    place: str = Field(default="", max_length=LONGEST_PLACE)
    narrative: str = Field(default="", max_length=LONGEST_NARRATIVE)
    application: str = Field(default="", max_length=LONGEST_SLUG)
    again: UUID | None = None
    edits: UUID | None = None
    continues: UUID | None = None

    @property
    def is_branching(self) -> bool:
        return any((self.again, self.edits, self.continues))

    @field_validator("timezone")
    @classmethod
    def without_unknown(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ValueError, KeyError, OSError):  # OSError: a folder of zones, or a very long name
            return ""
        return name


class BranchSwitch(Frame):
    """Show the newest path through the message, in all tabs."""

    type: Literal["branch.switch"]
    conversation: UUID
    message: UUID


class TurnDelete(Frame):
    """Delete a question with its answers, for good. The questions after them stay."""

    type: Literal["turn.delete"]
    conversation: UUID
    message: UUID


class Stop(Frame):
    type: Literal["stop"]


class HelperStop(Frame):
    """Stop one helper of the answer, by its key; the answer goes on without it."""

    type: Literal["helper.stop"]
    key: str = Field(max_length=LONGEST_HELPER_KEY)


class Watch(Frame):
    """Tell of the list of conversations, and of queued messages, whenever they change."""

    type: Literal["watch"]


class Visibility(Frame):
    """Whether the page is hidden: answers that end meanwhile are not seen."""

    type: Literal["visibility"]
    hidden: bool


class QueueChange(Frame):
    """Change the text of a queued message, or say whether it is held back."""

    type: Literal["queue.change"]
    id: UUID
    text: str | None = None
    held: bool | None = None


class QueueRemove(Frame):
    type: Literal["queue.remove"]
    id: UUID


class QueueSend(Frame):
    """Ask a queued message now; an answer that is going is stopped."""

    type: Literal["queue.send"]
    id: UUID


QueueFrame = QueueChange | QueueRemove | QueueSend
BranchFrame = BranchSwitch | TurnDelete
ClientFrame = (
    Open | Ask | Stop | HelperStop | Watch | Visibility | QueueFrame | BranchFrame | AnswerFrame
)
_client_frame: TypeAdapter[ClientFrame] = TypeAdapter(
    Annotated[
        Open | Ask | Stop | HelperStop | Watch | Visibility | QueueFrame | BranchFrame | Answer,
        Field(discriminator="type"),
    ]
)


def read(frame: str | bytes) -> ClientFrame:
    """Raises `Refused` with a sentence that names the field."""
    if isinstance(frame, bytes):
        raise Refused("bad_frame", "Frames are JSON texts; this one is binary.")
    if is_too_large(frame):
        raise TooLarge("too_large", "A frame may have at most 1 MiB; send a shorter text.")
    try:
        return _client_frame.validate_json(frame)
    except ValidationError as error:
        raise Refused("bad_frame", f"The frame cannot be read. {first_problem(error)}.") from error


def first_problem(error: ValidationError) -> str:
    """The first mistake, after the name of its field."""
    problem = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    return f"{place}: {problem['msg']}" if place else problem["msg"]


def is_too_large(frame: str) -> bool:
    if len(frame) * 4 <= LARGEST_FRAME_BYTES:
        return False
    return len(frame.encode("utf-8", "surrogatepass")) > LARGEST_FRAME_BYTES
