"""Answers that say that they cannot proceed, and call tools all the same."""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import regex

from apps.agent.calls import result_message
from apps.agent.messages import Message
from apps.agent.progress import Progress
from apps.agent.tools import ToolResult
from apps.patterns import compile_pattern

logger = logging.getLogger(__name__)

SEARCH_SECONDS = 0.1
"""For all phrases and one answer: they are searched on the event loop, which everybody shares."""
NOT_CALLED = ToolResult(
    "Error: this call was not made, because the text beside it says that you cannot proceed."
)
END = "stop"


@dataclass(frozen=True, slots=True)
class DeadEnds:
    """`phrases` are regular expressions for what a model says when it cannot proceed."""

    phrases: Sequence[str] = ()

    def include(self, message: Message) -> bool:
        """Whether the text says so. A search that takes too long has found nothing."""
        deadline = time.monotonic() + SEARCH_SECONDS
        for phrase in self.phrases:
            pattern = compile_pattern(phrase, regex.IGNORECASE)
            try:
                left = max(0.001, deadline - time.monotonic())
                if pattern.search(message.text, timeout=left):
                    return True
            except TimeoutError:
                logger.warning("The phrase %r takes too long to look for", phrase)
        return False


NO_DEAD_ENDS = DeadEnds()


def keep_uncalled(progress: Progress, message: Message) -> str:
    """Keep an answer whose calls are not made; the finish reason.

    Each call gets a result, without which services refuse the conversation.
    """
    logger.info("A model calls %d tools and cannot proceed", len(message.tool_calls))
    results = (result_message(call, NOT_CALLED) for call in message.tool_calls)
    progress.added += [message, *results, replace(message, tool_calls=(), thoughts=None)]
    return END
