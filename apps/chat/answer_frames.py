"""The frames with which people answer a run that waits for them, and what they may say."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from django.utils.translation import gettext
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
)

from apps.capabilities.mcp.elicitation_forms import content_problem
from apps.capabilities.questions.answers import question_problem
from apps.errors import Refused
from apps.live.models import LONGEST_KEY, LONGEST_REASON

LONGEST_ERROR = 2_000
LARGEST_RESULT = 200_000
"""Characters of what a page answers, as JSON."""
LONGEST_LABEL = 1_000
MOST_CHOICES = 100
LARGEST_ARGUMENTS = 200_000
"""Characters of changed arguments, as JSON."""


class Given(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ApprovalGiven(Given):
    """`arguments` are those that the person changed, `always` the scope of asking no more."""

    outcome: Literal["approved", "denied"]
    arguments: dict[str, Any] = Field(default_factory=dict)
    reason: str = Field(default="", max_length=LONGEST_REASON)
    always: Literal["conversation", "application"] | None = None

    @field_validator("arguments")
    @classmethod
    def storable_arguments(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        # Infinity and NaN, which JSON does not have, raise a ValueError.
        if len(json.dumps(arguments, allow_nan=False)) > LARGEST_ARGUMENTS:
            raise ValueError(f"at most {LARGEST_ARGUMENTS:,} characters")
        return arguments

    def check(self, asked: Mapping[str, Any]) -> None:
        """Raises `Refused` for an answer that the card does not offer."""
        if unknown := sorted(self.arguments.keys() - asked.get("editable", {}).keys()):
            raise misfit(
                gettext("“{unknown}” may not be changed.").format(unknown=unknown[0][:100])
            )
        if self.always is not None and self.always not in asked.get("always", ()):
            raise misfit(gettext("It has to be asked again each time."))
        if self.outcome == "denied" and (self.arguments or self.always):
            raise misfit(gettext("What is denied has no arguments, and is asked again."))


class QuestionGiven(Given):
    """`choices` are labels of options, `text` the person's own words."""

    outcome: Literal["answered", "skipped"]
    choices: tuple[Annotated[str, Field(max_length=LONGEST_LABEL)], ...] = Field(
        default=(), max_length=MOST_CHOICES
    )
    text: str = ""

    def check(self, asked: Mapping[str, Any]) -> None:
        """Raises `Refused` for an answer that the card does not offer."""
        if problem := question_problem(asked, self.model_dump()):
            raise misfit(problem)


class ClientToolGiven(Given):
    """`result` is JSON, and `error` says why there is none."""

    outcome: Literal["done", "failed"]
    result: Any = None
    error: str = Field(default="", max_length=LONGEST_ERROR)

    @field_validator("result")
    @classmethod
    def storable_result(cls, result: Any) -> Any:
        # Infinity and NaN, which JSON does not have, raise a ValueError.
        if len(json.dumps(result, allow_nan=False)) > LARGEST_RESULT:
            raise ValueError(f"at most {LARGEST_RESULT:,} characters")
        return result

    def check(self, asked: Mapping[str, Any]) -> None:
        """Whatever the page says is an answer."""


class ElicitationGiven(Given):
    """What an MCP server asked: `content` are the fields of its form; none for an address."""

    outcome: Literal["accepted", "declined", "cancelled"]
    content: dict[str, StrictBool | StrictInt | StrictFloat | StrictStr | list[StrictStr]] = Field(
        default_factory=dict
    )

    def check(self, asked: Mapping[str, Any]) -> None:
        """Raises `Refused` for an answer that the card does not offer."""
        if self.outcome != "accepted":
            if self.content:
                raise misfit(gettext("What is not accepted has no content."))
        elif problem := content_problem(asked, self.content):
            raise misfit(problem)


class SignInGiven(Given):
    """That the person is connected is known from their return, not from the page."""

    outcome: Literal["skipped"]

    def check(self, asked: Mapping[str, Any]) -> None: ...


def misfit(text: str) -> Refused:
    return Refused("bad_answer", text)


class Answered(BaseModel):
    """The part of a frame that says which card it answers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: UUID
    key: str = Field(max_length=LONGEST_KEY)


class ApprovalFrame(Answered):
    type: Literal["answer"]
    kind: Literal["approval"]
    answer: ApprovalGiven


class QuestionFrame(Answered):
    type: Literal["answer"]
    kind: Literal["question"]
    answer: QuestionGiven


class ClientToolFrame(Answered):
    type: Literal["answer"]
    kind: Literal["client_tool"]
    answer: ClientToolGiven


class ElicitationFrame(Answered):
    type: Literal["answer"]
    kind: Literal["elicitation"]
    answer: ElicitationGiven


class SignInFrame(Answered):
    type: Literal["answer"]
    kind: Literal["sign_in"]
    answer: SignInGiven


AnswerFrame = ApprovalFrame | QuestionFrame | SignInFrame | ClientToolFrame | ElicitationFrame
Answer = Annotated[AnswerFrame, Field(discriminator="kind")]
