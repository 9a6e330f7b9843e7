"""The doors for pages that carry out calls of tools: a page claims a call, and says what came of it."""

from typing import Any, Self, TypeVar

from channels.db import database_sync_to_async
from django.utils.translation import gettext
from pydantic import Field, ValidationError, model_validator

from apps.accounts.caller import Caller
from apps.chat.answer_frames import Answered, ClientToolFrame, ClientToolGiven
from apps.chat.decisions import decide, find_run
from apps.chat.frames import LARGEST_FRAME_BYTES, first_problem
from apps.chat.json_consumer import JsonConsumer
from apps.errors import Refused
from apps.live.hub import HUB, Hub
from apps.live.interactions import Claim, claim

LONGEST_PAGE = 100
STORABLE = r"^[^\x00]*$"
"""PostgreSQL has no NUL in texts."""

T = TypeVar("T", bound=Answered)


class ClaimSent(Answered):
    """`page` is an id that the page made for itself, `former` that of the page before a reload."""

    page: str = Field(min_length=1, max_length=LONGEST_PAGE, pattern=STORABLE)
    former: str = Field(default="", max_length=LONGEST_PAGE, pattern=STORABLE)


class ResultSent(Answered):
    """Either a `result`, which is JSON, or an `error`."""

    result: Any = None
    error: str = ""

    @model_validator(mode="after")
    def one_of_both(self) -> Self:
        if len({"result", "error"} & self.model_fields_set) != 1:
            raise ValueError("send either a result or an error")
        return self

    @property
    def frame(self) -> ClientToolFrame:
        """Raises `ValidationError` for what is too long."""
        outcome = "failed" if "error" in self.model_fields_set else "done"
        given = {"outcome": outcome, "result": self.result, "error": self.error}
        answer = ClientToolGiven.model_validate(given)
        return ClientToolFrame(
            type="answer", kind="client_tool", run=self.run, key=self.key, answer=answer
        )


class CallConsumer(JsonConsumer):
    method = "POST"

    def __init__(self, hub: Hub = HUB) -> None:
        super().__init__()
        self.hub = hub

    async def read(self, model: type[T]) -> T:
        """Raises `Refused` with a sentence that names the field."""
        body = await self.read_body(LARGEST_FRAME_BYTES)
        try:
            return model.model_validate_json(body)
        except ValidationError as error:
            raise malformed(error) from error


class ClaimConsumer(CallConsumer):
    """`POST /api/ai/tool-claim`"""

    async def answer(self) -> None:
        caller = await self.caller()
        sent = await self.read(ClaimSent)
        state = await database_sync_to_async(claim_call)(caller, sent)
        await self.send_json(200, {"state": state})


class ResultConsumer(CallConsumer):
    """`POST /api/ai/tool-result`"""

    async def answer(self) -> None:
        caller = await self.caller()
        sent = await self.read(ResultSent)
        try:
            frame = sent.frame
        except ValidationError as error:
            raise malformed(error) from error
        await decide(self.hub, caller, None, frame)
        await self.send_json(200, {"state": "done"})


def claim_call(caller: Caller, sent: ClaimSent) -> Claim:
    """Raises `Refused`."""
    run = find_run(caller, None, sent.run)
    return claim(run, sent.key, sent.page, sent.former)


def malformed(error: ValidationError) -> Refused:
    return Refused(
        "bad_request",
        gettext("The message cannot be read. {first_problem}.").format(
            first_problem=first_problem(error)
        ),
    )
