"""Questions of servers to the person behind a call, asked while the call goes on.

A server may ask in a session that serves one run at a time, and as long as a call goes on in it.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import mcp_types as types

from apps.agent.ledger import Interaction, Ledger
from apps.agent.time_limits import TimeLimit, standing_still
from apps.capabilities.mcp.elicitation_forms import NotAskable, card_of

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 300.0
MOST_AT_ONCE = 5
MOST_ASKED = 20
"""By the calls that go on at a time: a server could hold its caller up for ever."""

Elicited = types.ElicitResult | types.ErrorData


class Elicit(Protocol):
    """As the SDK calls it; the first argument is its context of the request."""

    async def __call__(self, context: Any, params: types.ElicitRequestParams) -> Elicited: ...


@dataclass(frozen=True, slots=True)
class GoingCall:
    """`server` is how its toolset is called, `limits` are those that the call has."""

    ledger: Ledger
    key: str
    server: str
    limits: tuple[TimeLimit, ...]


class ElicitationDesk:
    """Of one session."""

    def __init__(self) -> None:
        self.calls: list[GoingCall] = []
        self.asking: set[asyncio.Task[Mapping[str, Any]]] = set()
        self.asked = 0

    @contextmanager
    def serving(self, call: GoingCall) -> Iterator[None]:
        """During the block the server may ask. What is open after the last call is cancelled."""
        self.calls.append(call)
        try:
            yield
        finally:
            self.calls.remove(call)
            if not self.calls:
                self.asked = 0
                for task in self.asking:
                    task.cancel()

    async def elicit(self, context: Any, params: types.ElicitRequestParams) -> Elicited:
        if not self.calls:
            return refused("Nobody can be asked while no tool is called.")
        self.asked += 1
        if self.asked > MOST_ASKED or len(self.asking) >= MOST_AT_ONCE:
            return refused("Too many questions.")
        # The protocol does not say which call it is about.
        call = self.calls[-1]
        try:
            card = card_of(call.server, params)
        except NotAskable as error:
            return types.ErrorData(code=types.INVALID_PARAMS, message=str(error))
        return result_of(await self.ask_in_peace(call, card), card)

    async def show_pages(
        self, call: GoingCall, pages: Sequence[types.ElicitRequestURLParams]
    ) -> bool:
        """Whether the person has opened all pages. Raises `NotAskable`."""
        cards = [card_of(call.server, page) | {"repeats": True} for page in pages]
        for card in cards:
            answer = await self.ask_in_peace(call, card)
            if answer.get("outcome") != "accepted":
                return False
        return True

    async def ask_in_peace(self, call: GoingCall, card: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer; until it is there, no time passes for any call of the session."""
        limits = {limit for going in self.calls for limit in going.limits}
        with standing_still(limits):
            return await self.ask(call, card)

    async def ask(self, call: GoingCall, card: Mapping[str, Any]) -> Mapping[str, Any]:
        question = Interaction(call.key, "elicitation", card, ANSWER_SECONDS)
        task = asyncio.ensure_future(call.ledger.ask_now(question))
        self.asking.add(task)
        try:
            # Not awaited itself: its cancellation must not become one of the SDK's task.
            await asyncio.wait({task})
        finally:
            self.asking.discard(task)
            if not task.done():
                task.cancel()
        if task.cancelled():
            return {}
        if (error := task.exception()) is not None:
            logger.error("A server's question could not be asked", exc_info=error)
            return {}
        return task.result()


def refused(text: str) -> types.ErrorData:
    return types.ErrorData(code=types.INVALID_REQUEST, message=text)


def result_of(answer: Mapping[str, Any], card: Mapping[str, Any]) -> types.ElicitResult:
    match answer.get("outcome"):
        case "accepted":
            content = answer.get("content") if card["mode"] == "form" else None
            return types.ElicitResult(action="accept", content=content)
        case "declined":
            return types.ElicitResult(action="decline")
        case _:
            return types.ElicitResult(action="cancel")
