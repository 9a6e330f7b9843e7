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
MOST_QUESTIONS = 20
"""A server can ask up to this many questions during a call, so that it cannot block the call
forever.
"""

Elicited = types.ElicitResult | types.ErrorData


class Elicit(Protocol):
    """The SDK's callback for questions to the user. The first argument is the SDK's request
    context.
    """

    async def __call__(self, context: Any, params: types.ElicitRequestParams) -> Elicited: ...


@dataclass(frozen=True, slots=True)
class RunningCall:
    """A running tool call, during which the server may ask the user."""

    ledger: Ledger
    key: str
    server: str
    """The title of the tool's toolset."""
    limits: tuple[TimeLimit, ...]
    """The call's time limits. They are paused while the user is being asked."""


class ElicitationHandler:
    """Passes questions from one session's server to the user."""

    def __init__(self) -> None:
        self.calls: list[RunningCall] = []
        self.open_questions: set[asyncio.Task[Mapping[str, Any]]] = set()
        self.question_count = 0

    @contextmanager
    def serving(self, call: RunningCall) -> Iterator[None]:
        """Allow the server to ask the user during the block. When the last call ends, cancel open
        questions.
        """
        self.calls.append(call)
        try:
            yield
        finally:
            self.calls.remove(call)
            if not self.calls:
                self.question_count = 0
                for task in self.open_questions:
                    task.cancel()

    async def elicit(self, context: Any, params: types.ElicitRequestParams) -> Elicited:
        if not self.calls:
            return refusal_error("Users can be asked only during a tool call.")
        self.question_count += 1
        if self.question_count > MOST_QUESTIONS or len(self.open_questions) >= MOST_AT_ONCE:
            return refusal_error("The server asked too many questions during this call.")
        # The protocol does not identify the call to which a question belongs.
        call = self.calls[-1]
        try:
            card = card_of(call.server, params)
        except NotAskable as error:
            return types.ErrorData(code=types.INVALID_PARAMS, message=str(error))
        return result_of(await self.ask_with_paused_limits(call, card), card)

    async def show_pages(
        self, call: RunningCall, pages: Sequence[types.ElicitRequestURLParams]
    ) -> bool:
        """Ask the user to open each page. Return False as soon as the user declines. Raises
        `NotAskable` for an invalid URL.
        """
        cards = [card_of(call.server, page) | {"repeats": True} for page in pages]
        for card in cards:
            answer = await self.ask_with_paused_limits(call, card)
            if answer.get("outcome") != "accepted":
                return False
        return True

    async def ask_with_paused_limits(
        self, call: RunningCall, card: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Ask the user. In the meantime, pause the time limits of all calls in the session."""
        limits = {limit for going in self.calls for limit in going.limits}
        with pause_limits(limits):
            return await self.ask(call, card)

    async def ask(self, call: RunningCall, card: Mapping[str, Any]) -> Mapping[str, Any]:
        question = InteractionRequest(call.key, "elicitation", card, ANSWER_SECONDS)
        task = asyncio.ensure_future(call.ledger.ask_now(question))
        self.open_questions.add(task)
        try:
            # Not awaited directly, because a cancellation must not cancel the SDK's task.
            await asyncio.wait({task})
        finally:
            self.open_questions.discard(task)
            if not task.done():
                task.cancel()
        if task.cancelled():
            return {}
        if (error := task.exception()) is not None:
            logger.error("Failed to pass an MCP server's question to the user", exc_info=error)
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
