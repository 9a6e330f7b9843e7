"""The messages of a case, as they are written: turns of a person and of the application."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from apps.agent.messages import Attachment, Message
from apps.cases.expectations import problem_text

MOST_TURNS = 100
LONGEST_TURN = 200_000
LONGEST_NAME = 64
"""The limit that the API of chat completions has."""
LONGEST_FILE = 2_000_000
"""Characters of a file that stands in a case."""


class CaseFile(BaseModel):
    """A file beside a message: text or base64 in `data`, or an address in `url`."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(default="", max_length=255)
    type: str = Field(default="text/plain", max_length=255)
    data: str | None = Field(default=None, max_length=LONGEST_FILE)
    url: str | None = Field(default=None, max_length=2_000)

    @model_validator(mode="after")
    def has_one_content(self) -> CaseFile:
        if (self.data is None) == (self.url is None):
            raise ValueError("has to have either data or url")
        return self

    @property
    def attachment(self) -> Attachment:
        return Attachment(self.type, self.title, self.data, self.url)


class CaseTurn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    role: Literal["user", "assistant"]
    name: str = Field(
        default="",
        max_length=LONGEST_NAME,
        description="The speaker among several with the same role.",
    )
    text: str = Field(default="", max_length=LONGEST_TURN)
    files: list[CaseFile] = Field(default_factory=list, max_length=20)

    @property
    def message(self) -> Message:
        attachments = tuple(one.attachment for one in self.files)
        return Message(self.role, self.text, attachments=attachments, name=self.name)


class CaseTurns(BaseModel):
    turns: Annotated[list[CaseTurn], Field(min_length=1, max_length=MOST_TURNS)]

    @field_validator("turns")
    @classmethod
    def ends_with_a_question(cls, turns: list[CaseTurn]) -> list[CaseTurn]:
        last = turns[-1]
        if last.role != "user":
            raise ValueError("the last message has to be of the user, as it is what is answered")
        if not last.text.strip() and not last.files:
            raise ValueError("the last message has neither a text nor a file")
        return turns


_turns: TypeAdapter[CaseTurns] = TypeAdapter(CaseTurns)


def read_messages(written: object) -> Sequence[Message]:
    """Raises `ValidationError` of pydantic."""
    return [turn.message for turn in _turns.validate_python({"turns": written}).turns]


def message_problems(written: object) -> list[str]:
    """What is wrong with written messages, each with its place; [] for nothing."""
    try:
        read_messages(written)
    except ValidationError as error:
        found = [{**one, "loc": one["loc"][1:]} for one in error.errors()]
        return [problem_text("messages", one) for one in found]
    return []
