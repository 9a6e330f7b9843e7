"""Asks the user the questions that servers send during tool calls.

A server can ask only during a call, in a session that serves one run at a time.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import mcp_types as types

from apps.agent.ledger import InteractionRequest, Ledger
from apps.agent.time_limits import TimeLimit, pause_limits
from apps.capabilities.mcp.sessions.elicitation_forms import NotAskable, card_of

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 300.0
MOST_AT_ONCE = 5
MOST_ASKED = 20
"""The maximum number of questions that a server can ask during a call, so that it cannot block the
call forever.
"""

Elicited = types.ElicitResult | types.ErrorData


class Elicit(Protocol):
    """The SDK's type of callback for questions to the user. The first argument is the SDK's request
    context.
    """

    async def __call__(self, context: Any, params: types.ElicitRequestParams) -> Elicited: ...


@dataclass(frozen=True, slots=True)
class GoingCall:
    """A running tool call. `server` is the title of its toolset. `limits` are its time limits,
    which are paused while the user is asked.
    """

    ledger: Ledger
    key: str
    server: str
    limits: tuple[TimeLimit, ...]


class ElicitationDesk:
    """Asks the user the questions of one session's server."""

    def __init__(self) -> None:
        self.calls: list[GoingCall] = []
        self.asking: set[asyncio.Task[Mapping[str, Any]]] = set()
        self.asked = 0

    @contextmanager
    def serving(self, call: GoingCall) -> Iterator[None]:
        """Allow the server to ask the user during the block. When the last running call ends, its
        open questions are canceled.
        """
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
            return refusal_error("Users can be asked only during a tool call.")
        self.asked += 1
        if self.asked > MOST_ASKED or len(self.asking) >= MOST_AT_ONCE:
            return refusal_error("The server asked too many questions during this call.")
        # The protocol does not identify the call to which a question belongs.
        call = self.calls[-1]
        try:
            card = card_of(call.server, params)
        except NotAskable as error:
            return types.ErrorData(code=types.INVALID_PARAMS, message=str(error))
        return result_of(await self.ask_in_peace(call, card), card)

    async def show_pages(
        self, call: GoingCall, pages: Sequence[types.ElicitRequestURLParams]
    ) -> bool:
        """Ask the user to open each page. Return False as soon as the user declines. Raises
        `NotAskable` if a page has an invalid URL.
        """
        cards = [card_of(call.server, page) | {"repeats": True} for page in pages]
        for card in cards:
            answer = await self.ask_in_peace(call, card)
            if answer.get("outcome") != "accepted":
                return False
        return True

    async def ask_in_peace(self, call: GoingCall, card: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask the user, and return the answer. In the meantime, the time limits of all calls in the
        session are paused.
        """
        limits = {limit for going in self.calls for limit in going.limits}
        with pause_limits(limits):
            return await self.ask(call, card)

    async def ask(self, call: GoingCall, card: Mapping[str, Any]) -> Mapping[str, Any]:
        question = InteractionRequest(call.key, "elicitation", card, ANSWER_SECONDS)
        task = asyncio.ensure_future(call.ledger.ask_now(question))
        self.asking.add(task)
        try:
            # Not awaited directly, because a cancellation must not cancel the SDK's task.
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


def refusal_error(text: str) -> types.ErrorData:
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
