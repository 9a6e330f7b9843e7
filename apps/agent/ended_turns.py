"""Ends turns without another model call.

This happens if a tool's result ends the turn, or if the model writes that it cannot proceed but
still calls tools.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import regex

from apps.agent.calls import ToolOutcome, result_message
from apps.agent.messages import ModelMessage
from apps.agent.progress import BETWEEN_TEXTS, Progress, Turn
from apps.agent.tools import ToolResult
from apps.patterns import compile_pattern

END = "stop"
NOTHING = " "
"""The text of an answer that would otherwise be empty. Services reject empty text in later
requests.
"""
logger = logging.getLogger(__name__)

SEARCH_SECONDS = 0.1
"""The timeout in seconds for matching all phrases with one answer. It is short, because the search
blocks the event loop.
"""
NOT_CALLED = ToolResult(
    "Error: this call was not made, because your text says that you cannot proceed."
)


def end_turn(turn: Turn, outcomes: Sequence[ToolOutcome]) -> str:
    """Return the finish reason if a tool result ends the turn, otherwise "". Also append the
    `answer` texts from such results to the answer.
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
    """Regular expressions for texts in which a model says that it cannot proceed."""

    phrases: Sequence[str] = ()

    def include(self, message: ModelMessage) -> bool:
        """Return True if one of the expressions matches the message's text. A timeout counts as no
        match.
        """
        deadline = time.monotonic() + SEARCH_SECONDS
        for phrase in self.phrases:
            pattern = compile_pattern(phrase, regex.IGNORECASE)
            try:
                left = max(0.001, deadline - time.monotonic())
                if pattern.search(message.text, timeout=left):
                    return True
            except TimeoutError:
                logger.warning("Timed out while matching the phrase %r", phrase)
        return False


NO_DEAD_ENDS = DeadEnds()


def keep_uncalled(progress: Progress, message: ModelMessage) -> str:
    """Add an answer to the conversation without executing its tool calls, and return the finish
    reason.

    Each call gets an error as its result, because services reject calls without results.
    """
    logger.info("Ended a turn without executing the model's %d tool calls", len(message.tool_calls))
    results = (result_message(call, NOT_CALLED) for call in message.tool_calls)
    progress.conversation.added += [
        message,
        *results,
        replace(message, tool_calls=(), thoughts=None),
    ]
    return END
