"""What a conversation brings back from earlier answers, and what this one leaves behind.

The tool calls of an answer are not in the client's messages; they travel in the state of the
assistant message under `tool_execution_history` and are put back in their place here.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from apps.agent.messages import Message, call_from_dict, from_dict, to_dicts
from apps.agent.replies import MODEL_STATE

logger = logging.getLogger(__name__)

HISTORY = "tool_execution_history"


def expand(messages: Iterable[Message]) -> list[Message]:
    """Put the stored tool calls before the answers that they led to, grouped as they were."""
    return [item for message in messages for item in expand_one(message)]


def expand_one(message: Message) -> Iterator[Message]:
    stored = message.state.get(HISTORY)
    if message.role != "assistant" or not isinstance(stored, list):
        yield message
        return
    state = {key: value for key, value in message.state.items() if key != HISTORY}
    final = replace(message, state=state)
    if stored and isinstance(stored[0], Mapping) and "tool_call" in stored[0]:
        logger.warning("A conversation carries the old form of %s; it is still read.", HISTORY)
        yield from expand_pairs(stored)
    else:
        for written in stored:
            if isinstance(written, Mapping) and written.get("role") in ("assistant", "tool"):
                yield from_dict(written)
    yield final


def expand_pairs(stored: Sequence[Any]) -> Iterator[Message]:
    """The old form: a list of `{tool_call, tool_execution_result}`."""
    for pair in stored:
        if not isinstance(pair, Mapping) or not isinstance(pair.get("tool_call"), Mapping):
            continue
        call = call_from_dict(pair["tool_call"])
        yield Message("assistant", tool_calls=(call,))
        result = pair.get("tool_execution_result")
        content = result.get("content") if isinstance(result, Mapping) else result
        yield Message("tool", str(content or ""), tool_call_id=call.id)


def newest_state(messages: Sequence[Message]) -> Mapping[str, Any]:
    """The state of the last answer: what capabilities left for the next one."""
    for message in reversed(messages):
        if message.role == "assistant" and message.state:
            return message.state
    return {}


def kept(messages: Sequence[Message], given: Sequence[Message]) -> list[dict[str, Any]]:
    """The tool calls and results among `messages` that were not `given` by the client, written."""
    known = {id(message) for message in given}
    return to_dicts(
        message
        for message in messages
        if id(message) not in known and (message.tool_calls or message.role == "tool")
    )


async def promote(messages: Sequence[Message]) -> Sequence[Message]:
    """Give the model its own state back at the top level, where it left it."""
    return [promote_one(message) for message in messages]


def promote_one(message: Message) -> Message:
    own = message.state.get(MODEL_STATE)
    if message.role != "assistant" or not isinstance(own, Mapping):
        return message
    rest = {key: value for key, value in message.state.items() if key != MODEL_STATE}
    return replace(message, state={**rest, **own})
