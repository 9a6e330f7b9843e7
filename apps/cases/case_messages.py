"""Defines the messages of a test case, as an operator writes them."""

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

from apps.agent.messages import Attachment, ModelMessage
from apps.cases.expectations import problem_text

MOST_TURNS = 100
LONGEST_TURN = 200_000
LONGEST_NAME = 64
"""A speaker's name can have at most this many characters, as in the chat completions API."""
LONGEST_FILE = 2_000_000
"""A file in a test case can have at most this many characters."""


class CaseFile(BaseModel):
    """A file in a message: text or base64 in `data`, or a URL in `url`."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(default="", max_length=255)
    type: str = Field(default="text/plain", max_length=255)
    data: str | None = Field(default=None, max_length=LONGEST_FILE)
    url: str | None = Field(default=None, max_length=2_000)

    @model_validator(mode="after")
    def has_one_content(self) -> CaseFile:
        if (self.data is None) == (self.url is None):
            raise ValueError("send either data or url")
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
        description="The name of the speaker, if several speakers have the same role.",
    )
    text: str = Field(default="", max_length=LONGEST_TURN)
    files: list[CaseFile] = Field(default_factory=list, max_length=20)

    @property
    def message(self) -> ModelMessage:
        attachments = tuple(one.attachment for one in self.files)
        return ModelMessage(self.role, self.text, attachments=attachments, name=self.name)


class CaseTurns(BaseModel):
    turns: Annotated[list[CaseTurn], Field(min_length=1, max_length=MOST_TURNS)]

    @field_validator("turns")
    @classmethod
    def ends_with_a_question(cls, turns: list[CaseTurn]) -> list[CaseTurn]:
        last = turns[-1]
        if last.role != "user":
            raise ValueError("the last message must be the user's question")
        if not last.text.strip() and not last.files:
            raise ValueError("the last message is empty; add text or a file")
        return turns


_turns: TypeAdapter[CaseTurns] = TypeAdapter(CaseTurns)


def read_messages(written: object) -> Sequence[ModelMessage]:
    """Parse a test case's messages. Raises pydantic's `ValidationError` if they are invalid."""
    return [turn.message for turn in _turns.validate_python({"turns": written}).turns]


def message_problems(written: object) -> list[str]:
    """Return the errors in a test case's messages, with their paths, or [] if there are none."""
    try:
        read_messages(written)
    except ValidationError as error:
        found = [{**one, "loc": one["loc"][1:]} for one in error.errors()]
        return [problem_text("messages", one) for one in found]
    return []
