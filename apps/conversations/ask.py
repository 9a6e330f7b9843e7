"""The format of a question, shared by all entry points that store conversations."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, field_validator

from apps.accounts.caller import Surface
from apps.datetimes import zone_names
from apps.manifest.narrative import LONGEST_NARRATIVE

LONGEST_PLACE = 100
LONGEST_SLUG = 50
LONGEST_DEPLOYMENT = 100
MOST_ATTACHMENTS = 20
"""The maximum number of files in one question."""
STORABLE = r"^[^\x00]*$"
"""A pattern that matches text without NUL characters, which PostgreSQL cannot store."""
Effort = Annotated[str, Field(max_length=20, pattern=r"^[a-z]*$")]
ToolsetName = Annotated[str, Field(max_length=200, pattern=STORABLE)]


class SentFile(BaseModel):
    """A file attached to a question. `url` is the path of the uploaded file, such as `files/…`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str = Field(max_length=2000)


class Ask(BaseModel):
    """A question, as the page sends it. The page generates the `id`, which identifies repeated
    frames.

    A new conversation (`conversation` is None) gets the ID `begin`, under which its files were
    uploaded. `timezone` is the browser's, such as Europe/Riga, or "" if unknown. `surface` is
    `page` if scripts of the page run its tools. `while_running` decides whether the question is
    rejected, is queued, or replaces the running answer. `memory` decides whether a new conversation
    can use the user's memories. A `temporary` conversation never uses memories, and is erased soon.
    `place` is the slug of the user's place, and `narrative` describes the content of their screen.
    `application` is the same as in an `open` frame. `deployment` is the chosen model, one of the
    application's choices. It applies to a new conversation or, with `again`, to this answer.
    `tools` contains the toolsets that the user turned on or off for a new conversation.

    Three fields contain a message ID and begin another branch at this message; such questions are
    never queued. `again` is a question to answer again, unchanged. `edits` is a question that this
    question replaces. `continues` is the last answer, which reached the length limit. With `again`
    and `continues`, the text and the files are ignored.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

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
    tools: dict[ToolsetName, bool] = Field(default={}, max_length=50)
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
        return name if name in zone_names() else ""
