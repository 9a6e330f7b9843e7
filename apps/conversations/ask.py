"""Defines the format of a question, for all doors that store conversations."""

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


class SentFile(BaseModel):
    """A file attached to a question. `url` is the path of the uploaded file, such as `files/…`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str = Field(max_length=2000)


class Ask(BaseModel):
    """A question, as the page sends it. The page generates the `id`, which identifies repeated
    frames.

    If `conversation` is None, the question begins a conversation with the ID `begin`, under which
    the page uploaded the files. `timezone` is the browser's time zone, such as Europe/Riga, or ""
    if unknown. `surface` is `page` if the page's scripts run its tools. `while_running` decides
    whether a question during a running answer is rejected, is queued, or replaces the answer.
    `memory` decides whether a new conversation can use the user's memories. A `temporary`
    conversation never uses memories, and is deleted soon. `place` is the slug of the place where
    the user is, and `narrative` describes the content of their screen. `application` is the same as
    in an `open` frame. `deployment` is the model that the user chose for a new conversation or,
    with `again`, for this answer.

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
