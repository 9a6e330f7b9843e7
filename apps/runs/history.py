"""Tool calls of earlier answers, which travel in the state of the assistant's messages.

They are not in the client's messages: an answer leaves them in its state under
`tool_execution_history`, and the next request puts them back in their place.
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from apps.agent.messages import Message, from_dict, to_dicts, with_model_parts

logger = logging.getLogger(__name__)

HISTORY = "tool_execution_history"
SEALED = "sealed"
INDEX = "index"
KEY = b'"index":'
LONGEST_ERROR = 200


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
            stored = [written for pair in stored for written in from_old_form(pair)]
        yield from read_stored(stored)
    yield with_model_parts(replace(message, state=state) if state != message.state else message)


def from_old_form(pair: Any) -> Iterator[dict[str, Any]]:
    """The two messages of one `{tool_call, tool_execution_result}`."""
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


def new_tool_messages(
    messages: Sequence[Message], given: Sequence[Message]
) -> list[dict[str, Any]]:
    """The written tool calls and results after the last question that the client did not bring.

    Calls are compared by their ids too, because a history step may have rewritten a message.
    """
    known = {id(message) for message in given}
    brought = {call.id for message in since_question(given) for call in message.tool_calls}
    return to_dicts(
        message
        for message in since_question(messages)
        if id(message) not in known and is_new(message, brought)
    )


def since_question(messages: Sequence[Message]) -> Sequence[Message]:
    asked = (i for i in range(len(messages) - 1, -1, -1) if messages[i].role == "user")
    return messages[next(asked, -1) + 1 :]


def is_new(message: Message, brought: Collection[str]) -> bool:
    if message.role == "tool":
        return message.tool_call_id not in brought
    return any(call.id not in brought for call in message.tool_calls)


# The stored messages went through other hands, so their shape is checked. Models refuse a
# conversation in which a call has no result, or a result no call.


Named = Annotated[str, Meta(min_length=1)]


class StoredFunction(Struct, gc=False):
    name: Named
    arguments: str | dict[str, Any] | None = None


class StoredCall(Struct, gc=False):
    id: Named
    function: StoredFunction


class StoredAttachment(Struct, gc=False):
    type: str | None = None
    title: str | None = None
    data: str | None = None
    url: str | None = None
    reference_type: str | None = None
    reference_url: str | None = None


class StoredCustomContent(Struct):
    attachments: list[StoredAttachment] | None = None
    state: dict[str, Any] | None = None


class StoredMessage(Struct):
    role: Literal["assistant", "tool"]
    content: str | list[dict[str, Any]] | None = None
    tool_calls: list[StoredCall] | None = None
    tool_call_id: str | None = None
    custom_content: StoredCustomContent | None = None


def read_stored(stored: Iterable[Any]) -> Iterator[Message]:
    """The messages; calls without results, and results without calls, are left out."""
    groups: list[list[Message]] = []
    for written in stored:
        try:
            msgspec.convert(written, StoredMessage)
        except msgspec.ValidationError as error:
            # An error may quote the client, who wrote the message.
            logger.warning(
                "A stored tool message was left out: %s", ascii(str(error)[:LONGEST_ERROR])
            )
            continue
        message = from_dict(written)
        if message.role == "assistant" or not groups:
            groups.append([])
        groups[-1].append(message)
    for group in groups:
        yield from complete_part(group)


def complete_part(group: list[Message]) -> Iterator[Message]:
    """Of a message and the results behind it: the calls with results, then their results."""
    asked, *others = group
    wanted = {call.id for call in asked.tool_calls}
    results = {m.tool_call_id: m for m in others if m.tool_call_id in wanted}
    if results:
        calls = tuple(call for call in asked.tool_calls if call.id in results)
        yield asked if len(calls) == len(asked.tool_calls) else replace(asked, tool_calls=calls)
        yield from results.values()


# DIAL's SDK puts the chunks of a stream together by the key `index`, in a state as well: it sorts
# lists by it, fills gaps in it, and takes it away. Entries with that key therefore travel as text.


def seal(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state, its entries that have an `index` somewhere in one text."""
    if KEY not in msgspec.json.encode(state):  # nearly always, and faster than looking
        return dict(state)
    exposed = {name: value for name, value in state.items() if has_index(value)}
    if not exposed:
        return dict(state)
    rest = {name: value for name, value in state.items() if name not in exposed}
    return {**rest, SEALED: msgspec.json.encode(exposed).decode()}


def unseal(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """The state as it was before `seal`, without a sealed part that cannot be read."""
    if SEALED not in state:
        return state
    rest = {name: value for name, value in state.items() if name != SEALED}
    try:
        exposed = msgspec.json.decode(state[SEALED])
    except (msgspec.DecodeError, TypeError, UnicodeError, RecursionError):
        exposed = None
    if not isinstance(exposed, Mapping):
        logger.warning("A state came back with a part that cannot be read; it is left out.")
        return rest
    return {**rest, **exposed}


def has_index(value: Any) -> bool:
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Mapping):
            if INDEX in found:
                return True
            waiting += found.values()
        elif isinstance(found, (list, tuple)):
            waiting += found
    return False
