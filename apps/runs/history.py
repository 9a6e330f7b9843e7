"""What a conversation brings back from earlier answers, and what this one leaves behind.

The tool calls of an answer are not in the client's messages; they travel in the state of the
assistant message under `tool_execution_history` and are put back in their place here.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from apps.agent.messages import Message, to_dicts, with_model_parts
from apps.runs.sealing import unseal
from apps.runs.stored import read_stored

logger = logging.getLogger(__name__)

HISTORY = "tool_execution_history"


def expand(messages: Iterable[Message]) -> list[Message]:
    """Put the stored tool calls before the answers that they led to, grouped as they were."""
    return [item for message in messages for item in expand_one(message)]


def expand_one(message: Message) -> Iterator[Message]:
    if message.role != "assistant":
        yield with_model_parts(message)
        return
    state = dict(unseal(message.state))
    stored = state.pop(HISTORY, None)
    if isinstance(stored, list):
        if stored and isinstance(stored[0], Mapping) and "tool_call" in stored[0]:
            logger.warning("A conversation carries the old form of %s; it is still read.", HISTORY)
            stored = [written for pair in stored for written in paired(pair)]
        yield from read_stored(stored)
    yield with_model_parts(replace(message, state=state) if state != message.state else message)


def paired(pair: Any) -> Iterator[dict[str, Any]]:
    """Two messages from the old form, a list of `{tool_call, tool_execution_result}`."""
    call = pair.get("tool_call") if isinstance(pair, Mapping) else None
    if not isinstance(call, Mapping):
        return
    result = pair.get("tool_execution_result")
    content = result.get("content") if isinstance(result, Mapping) else result
    yield {"role": "assistant", "tool_calls": [call]}
    yield {"role": "tool", "content": str(content or ""), "tool_call_id": call.get("id")}


def newest_state(messages: Sequence[Message]) -> Mapping[str, Any]:
    """The state of the last answer: what capabilities left for the next one."""
    for message in reversed(messages):
        if message.role == "assistant" and (message.state or message.model_state):
            return message.state
    return {}


def kept(messages: Sequence[Message], given: Sequence[Message]) -> list[dict[str, Any]]:
    """The tool calls and results after the last question that the client did not bring, written.

    What it brought is told by the ids of the calls as well: a history step may have rewritten it.
    """
    known = {id(message) for message in given}
    brought = {call.id for message in latest(given) for call in message.tool_calls}
    return to_dicts(
        message
        for message in latest(messages)
        if id(message) not in known and is_new(message, brought)
    )


def latest(messages: Sequence[Message]) -> Sequence[Message]:
    """What follows the last question."""
    asked = (i for i in range(len(messages) - 1, -1, -1) if messages[i].role == "user")
    return messages[next(asked, -1) + 1 :]


def is_new(message: Message, brought: Collection[str]) -> bool:
    if message.role == "tool":
        return message.tool_call_id not in brought
    return any(call.id not in brought for call in message.tool_calls)
