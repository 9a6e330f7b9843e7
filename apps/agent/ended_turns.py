"""Ends turns without another model call.

A turn ends in this way if a tool's result ends it, or if the model writes that it cannot proceed
and nevertheless calls tools.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import regex

from apps.agent.calls import ToolOutcome, result_message
from apps.agent.messages import ModelMessage
from apps.agent.progress import Progress, Turn
from apps.agent.run_answer import BETWEEN_TEXTS
from apps.agent.tools import ToolResult
from apps.patterns import compile_pattern

END = "stop"
NOTHING = " "
"""The text of an empty answer, because services reject empty text in later requests."""
logger = logging.getLogger(__name__)

SEARCH_SECONDS = 0.1
"""The timeout for matching all phrases against one answer, in seconds. The search blocks the event
loop, which all requests share.
"""
NOT_CALLED = ToolResult(
    "Error: this call was not made, because your text says that you cannot proceed."
)


def end_turn(turn: Turn, outcomes: Sequence[ToolOutcome]) -> str:
    """Return the finish reason if one of the results ends the turn, or "" if the run continues.

    The texts of the results that end the turn are appended to the answer, in the order of their
    calls.
    """
    ending = [one.result for one in outcomes if one.result.ends_turn and one.failed is None]
    if not ending:
        return ""
    answer = turn.progress.answer
    text = BETWEEN_TEXTS.join(result.answer for result in ending if result.answer)
    answer.allowance.left -= len(text)
    text = answer.allowance.fitting(text)
    if text:
        answer.append(text, turn.emit)
    turn.progress.conversation.added.append(ModelMessage("assistant", text or NOTHING))
    return END


@dataclass(frozen=True, slots=True)
class DeadEnds:
    """Regular expressions that match when a model writes that it cannot proceed."""

    phrases: Sequence[str] = ()

    def include(self, message: ModelMessage) -> bool:
        """Return True if one of the expressions matches the message's text. A search that takes too
        long counts as no match.
        """
        deadline = time.monotonic() + SEARCH_SECONDS
        for phrase in self.phrases:
            pattern = compile_pattern(phrase, regex.IGNORECASE)
            try:
                left = max(0.001, deadline - time.monotonic())
                if pattern.search(message.text, timeout=left):
                    return True
            except TimeoutError:
                logger.warning("The phrase %r takes too long to match", phrase)
        return False


NO_DEAD_ENDS = DeadEnds()


def keep_uncalled(progress: Progress, message: ModelMessage) -> str:
    """Add the model's answer to the conversation without executing its tool calls, and return the
    finish reason.

    Each call gets a result, because services reject a conversation in which a call has none.
    """
    logger.info("A model calls %d tools and cannot proceed", len(message.tool_calls))
    results = (result_message(call, NOT_CALLED) for call in message.tool_calls)
    progress.conversation.added += [
        message,
        *results,
        replace(message, tool_calls=(), thoughts=None),
    ]
    return END
