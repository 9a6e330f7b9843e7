"""Defines a question as clients send it."""

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
"""Matches text without NUL characters, which PostgreSQL cannot store."""
Effort = Annotated[str, Field(max_length=20, pattern=r"^[a-z]*$")]
ToolsetName = Annotated[str, Field(max_length=200, pattern=STORABLE)]


class SentFile(BaseModel):
    """A file attached to a question. `url` is the path of an uploaded file, such as `files/…`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str = Field(max_length=2000)


class Ask(BaseModel):
    """A question, as the page sends it.

    Questions with `again`, `edits` or `continues` are never queued. With `again` and `continues`,
    the text and the files are ignored.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: UUID
    """The question's ID, which the page generates. A repeated frame has the same ID."""
    text: str
    conversation: UUID | None = None
    begin: UUID | None = None
    """The ID for a new conversation, under which its files were uploaded."""
    attachments: tuple[SentFile, ...] = Field(default=(), max_length=MOST_ATTACHMENTS)
    timezone: str = ""
    """The browser's time zone, such as Europe/Riga, or "" if it is unknown."""
    surface: Surface = ""
    """`page` if the page's scripts can run tools, else ""."""
    while_running: Literal["refuse", "queue", "stop"] = "refuse"
    """Decides whether the question is rejected, is queued, or replaces a running answer."""
    memory: bool = True
    """True if a new conversation can use the user's memories."""
    temporary: bool = False
    """True for a new conversation that uses no memories and is deleted soon."""
    effort: Effort = ""
    deployment: str = Field(default="", max_length=LONGEST_DEPLOYMENT, pattern=STORABLE)
    """The model for a new conversation or, with `again`, for this answer."""
    tools: dict[ToolsetName, bool] = Field(default={}, max_length=50)
    """The toolsets that the user turned on or off for a new conversation."""
    place: str = Field(default="", max_length=LONGEST_PLACE)
    """The slug of the chat place: the part of the host application in which the user is."""
    narrative: str = Field(default="", max_length=LONGEST_NARRATIVE)
    """A description of the user's screen."""
    application: str = Field(default="", max_length=LONGEST_SLUG)
    """The slug of the conversation's application, or "" if it is unchanged."""
    again: UUID | None = None
    """The ID of a question to answer again."""
    edits: UUID | None = None
    """The ID of a question that this one replaces, on a new branch."""
    continues: UUID | None = None
    """The ID of the last answer, to continue it after it reached the length limit."""

    @property
    def is_branching(self) -> bool:
        return any((self.again, self.edits, self.continues))

    @field_validator("timezone")
    @classmethod
    def without_unknown(cls, name: str) -> str:
        return name if name in zone_names() else ""
