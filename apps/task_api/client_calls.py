"""Serves the endpoints for browser tools: a page claims a call, runs the tool, and reports the
outcome.
"""

from typing import Any, Self, TypeVar

from channels.db import database_sync_to_async
from django.utils.translation import gettext
from pydantic import Field, ValidationError, model_validator

from apps.accounts.caller import Caller
from apps.conversations.ask import STORABLE
from apps.conversations.interactions.answer_frames import (
    AnsweredInteraction,
    ClientToolFrame,
    ClientToolResponse,
)
from apps.conversations.interactions.decisions import answer_interaction, find_run
from apps.doors.bodies import LARGEST_FRAME_BYTES, first_problem
from apps.doors.json_consumer import JsonConsumer
from apps.errors import Refused
from apps.live.hub import HUB, Hub
from apps.live.interactions import Claim, claim_for_page

LONGEST_PAGE = 100

T = TypeVar("T", bound=AnsweredInteraction)


class ClaimSent(AnsweredInteraction):
    """A page's claim that it will run a browser tool call."""

    page: str = Field(min_length=1, max_length=LONGEST_PAGE, pattern=STORABLE)
    """An ID that the page has created for itself."""
    former: str = Field(default="", max_length=LONGEST_PAGE, pattern=STORABLE)
    """The page's ID before a reload, or ""."""


class ResultSent(AnsweredInteraction):
    """The outcome of a browser tool call: a JSON `result` or an `error` message."""

    result: Any = None
    error: str = ""

    @model_validator(mode="after")
    def one_of_both(self) -> Self:
        if len({"result", "error"} & self.model_fields_set) != 1:
            raise ValueError("send either a result or an error, not both")
        return self

    @property
    def frame(self) -> ClientToolFrame:
        """Return the outcome in the format of the page's WebSocket. Raises `ValidationError` if a
        value is too long.
        """
        outcome = "failed" if "error" in self.model_fields_set else "done"
        given = {"outcome": outcome, "result": self.result, "error": self.error}
        answer = ClientToolResponse.model_validate(given)
        return ClientToolFrame(
            type="answer", kind="client_tool", run=self.run, key=self.key, answer=answer
        )


class CallConsumer(JsonConsumer):
    methods = ("POST",)
    finishes_answers = True

    def __init__(self, hub: Hub = HUB) -> None:
        super().__init__()
        self.hub = hub

    async def read(self, model: type[T]) -> T:
        """Parse the body. Raises `Refused` with the name of the first invalid field."""
        body = await self.read_body(LARGEST_FRAME_BYTES)
        try:
            return model.model_validate_json(body)
        except ValidationError as error:
            raise malformed_request(error) from error


class ClaimConsumer(CallConsumer):
    """Serves `POST /api/ai/tool-claim`. After a page has claimed a call, no other page runs it."""

    async def answer(self) -> None:
        caller = await self.caller()
        sent = await self.read(ClaimSent)
        state = await database_sync_to_async(claim_call)(caller, sent)
        await self.send_json(200, {"state": state})


class ResultConsumer(CallConsumer):
    """Serves `POST /api/ai/tool-result`, to which a page reports the outcome of a call."""

    async def answer(self) -> None:
        caller = await self.caller()
        sent = await self.read(ResultSent)
        try:
            frame = sent.frame
        except ValidationError as error:
            raise malformed_request(error) from error
        await answer_interaction(self.hub, caller, None, frame)
        await self.send_json(200, {"state": "done"})


def claim_call(caller: Caller, sent: ClaimSent) -> Claim:
    """Claim the call for the page. Raises `Refused` if the call is closed or the caller has no such
    run.
    """
    run = find_run(caller, None, sent.run)
    return claim_for_page(run, sent.key, sent.page, sent.former)


def malformed_request(error: ValidationError) -> Refused:
    return Refused(
        "bad_request",
        gettext("The message is not valid. {first_problem}.").format(
            first_problem=first_problem(error)
        ),
    )
