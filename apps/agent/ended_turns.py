"""Rounds after which no model is asked again, because the result of a tool ends the turn."""

from collections.abc import Sequence

from apps.agent.calls import ToolOutcome
from apps.agent.events import TextDelta
from apps.agent.messages import Message
from apps.agent.progress import BETWEEN_TEXTS, Turn

END = "stop"
NOTHING = " "
"""The text of an empty answer: services refuse an empty one when it comes back."""


def end_turn(turn: Turn, outcomes: Sequence[ToolOutcome]) -> str:
    """The finish reason if one of the results ends the turn, "" to go on.

    The texts of those results end the answer, in the order of their calls.
    """
    ending = [one.result for one in outcomes if one.result.ends_turn and one.failed is None]
    if not ending:
        return ""
    progress = turn.progress
    text = BETWEEN_TEXTS.join(result.answer for result in ending if result.answer)
    progress.allowance.left -= len(text)
    text = progress.allowance.fitting(text)
    if text:
        turn.emit(TextDelta(f"{progress.lead}{text}"))
        progress.say(text)
    progress.added.append(Message("assistant", text or NOTHING))
    return END
