"""Defines the frames with which users answer the questions of waiting runs."""

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

from apps.capabilities.mcp.sessions.elicitation_forms import content_problem
from apps.capabilities.questions.answers import question_problem
from apps.errors import Refused
from apps.live.models import LONGEST_KEY, LONGEST_REASON

LONGEST_ERROR = 2_000
LARGEST_RESULT = 200_000
"""The maximum number of characters in the JSON result of a tool that runs in the browser."""
LONGEST_LABEL = 1_000
MOST_CHOICES = 100
LARGEST_ARGUMENTS = 200_000
"""The maximum number of characters in the tool call arguments that a user has changed, as JSON."""


class InteractionResponse(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ApprovalResponse(InteractionResponse):
    """A user's answer to an approval request."""

    outcome: Literal["approved", "denied"]
    arguments: dict[str, Any] = Field(default_factory=dict)
    """The arguments that the user has changed."""
    reason: str = Field(default="", max_length=LONGEST_REASON)
    always: Literal["conversation", "application"] | None = None
    """The scope of *Don't ask again*, or None."""

    @field_validator("arguments")
    @classmethod
    def storable_arguments(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        # Infinity and NaN are not valid JSON and raise a ValueError.
        if len(json.dumps(arguments, allow_nan=False)) > LARGEST_ARGUMENTS:
            raise ValueError(f"too long; the limit is {LARGEST_ARGUMENTS:,} characters")
        return arguments

    def check(self, request: Mapping[str, Any]) -> None:
        """Raise `Refused` if the approval request does not allow this answer."""
        if unknown := sorted(self.arguments.keys() - request.get("editable", {}).keys()):
            raise misfit(gettext("“{unknown}” can’t be changed.").format(unknown=unknown[0][:100]))
        if self.always is not None and self.always not in request.get("always", ()):
            raise misfit(gettext("This tool needs approval for every call."))
        if self.outcome == "denied" and (self.arguments or self.always):
            raise misfit(gettext("A denied call can’t include `arguments` or `always`."))


class QuestionResponse(InteractionResponse):
    """A user's answer to a question: the labels of the chosen options, and the user's own text."""

    outcome: Literal["answered", "skipped"]
    choices: tuple[Annotated[str, Field(max_length=LONGEST_LABEL)], ...] = Field(
        default=(), max_length=MOST_CHOICES
    )
    text: str = ""

    def check(self, request: Mapping[str, Any]) -> None:
        """Raise `Refused` if the question does not allow this answer."""
        if problem := question_problem(request, self.model_dump()):
            raise misfit(problem)


class ClientToolResponse(InteractionResponse):
    """The result of a tool that ran in the browser. `error` is the message of a failed call."""

    outcome: Literal["done", "failed"]
    result: Any = None
    error: str = Field(default="", max_length=LONGEST_ERROR)

    @field_validator("result")
    @classmethod
    def storable_result(cls, result: Any) -> Any:
        # Infinity and NaN are not valid JSON and raise a ValueError.
        if len(json.dumps(result, allow_nan=False)) > LARGEST_RESULT:
            raise ValueError(f"too long; the limit is {LARGEST_RESULT:,} characters")
        return result

    def check(self, request: Mapping[str, Any]) -> None:
        """Accept any result, because the page itself ran the tool."""


class ElicitationResponse(InteractionResponse):
    """A user's answer to a question from an MCP server. `content` maps the names of form fields to
    values. It is empty if the server asked the user to open a URL.
    """

    outcome: Literal["accepted", "declined", "cancelled"]
    content: dict[str, StrictBool | StrictInt | StrictFloat | StrictStr | list[StrictStr]] = Field(
        default_factory=dict
    )

    def check(self, request: Mapping[str, Any]) -> None:
        """Raise `Refused` if the server's form does not allow this answer."""
        if self.outcome != "accepted":
            if self.content:
                raise misfit(gettext("A declined answer can’t include `content`."))
        elif problem := content_problem(request, self.content):
            raise misfit(problem)


class SignInResponse(InteractionResponse):
    """The answer with which a user skips a sign-in. A completed sign-in needs no frame, because the
    service redirects the browser.
    """

    outcome: Literal["skipped"]

    def check(self, request: Mapping[str, Any]) -> None: ...


def misfit(text: str) -> Refused:
    return Refused("bad_answer", text)


class AnsweredInteraction(BaseModel):
    """Identifies the question that is answered, by its run and its key within the run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: UUID
    key: str = Field(max_length=LONGEST_KEY)


class ApprovalFrame(AnsweredInteraction):
    type: Literal["answer"]
    kind: Literal["approval"]
    answer: ApprovalResponse


class QuestionFrame(AnsweredInteraction):
    type: Literal["answer"]
    kind: Literal["question"]
    answer: QuestionResponse


class ClientToolFrame(AnsweredInteraction):
    type: Literal["answer"]
    kind: Literal["client_tool"]
    answer: ClientToolResponse


class ElicitationFrame(AnsweredInteraction):
    type: Literal["answer"]
    kind: Literal["elicitation"]
    answer: ElicitationResponse


class SignInFrame(AnsweredInteraction):
    type: Literal["answer"]
    kind: Literal["sign_in"]
    answer: SignInResponse


AnswerFrame = ApprovalFrame | QuestionFrame | SignInFrame | ClientToolFrame | ElicitationFrame
Answer = Annotated[AnswerFrame, Field(discriminator="kind")]
