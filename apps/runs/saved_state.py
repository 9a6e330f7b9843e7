"""What a run leaves for the next request, and for its own next attempt."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from apps.agent.ledger import Ledger, Step
from apps.agent.messages import Message, ToolCall, written_state
from apps.agent.progress import Progress
from apps.agent.step_results import write
from apps.agent.tools import ToolResult
from apps.capabilities.registry import Tidy
from apps.runs.history import HISTORY, new_tool_messages

OPEN = "open"
"""The key of the step with what the model was first asked with."""
SAVED = "saved"
"""The key of the step with what capabilities have changed since then."""


def state_of(
    given: Sequence[Message], progress: Progress, tidying: Sequence[Tidy]
) -> dict[str, Any]:
    """The state that the next request has to bring back."""
    conversation: Sequence[Message] = progress.conversation
    for tidy in tidying:
        conversation = tidy(conversation)
    state: dict[str, Any] = {HISTORY: new_tool_messages(conversation, given)}
    for message in progress.added:
        if not message.tool_calls:
            state |= written_state(replace(message, state={}) if message.state else message)
    return state


def recorded_state(ledger: Ledger) -> dict[str, Any]:
    """What capabilities had kept for the next request when the run was last worked on."""
    for key in (SAVED, OPEN):
        step = ledger.step(key)
        if step is not None:
            return dict(step.result["saved"])
    return {}


async def record_state(
    ledger: Ledger, saved: Mapping[str, Any], call: ToolCall, result: ToolResult
) -> ToolResult:
    """A step over results: notes what the tool has changed for the calls after it."""
    written = write(saved)
    if written != recorded_state(ledger):
        ledger.record(Step(SAVED, "open", "done", result={"saved": written}))
    return result
