"""Restores what earlier answers stored in the state that clients send back, and builds the state of
a new answer.

The client's messages do not contain the tool calls of earlier answers. The answer's state contains
them under the key `tool_execution_history`.
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from apps.agent.ledger import Ledger, Step
from apps.agent.messages import (
    ModelMessage,
    ToolCall,
    from_dict,
    to_dicts,
    with_model_parts,
    written_state,
)
from apps.agent.progress import Progress
from apps.agent.steps.results import write_record
from apps.agent.taint import UNTRUSTED, Taint, sources_in
from apps.agent.tools import ToolResult
from apps.capabilities.registry import Tidy

logger = logging.getLogger(__name__)

HISTORY = "tool_execution_history"
SEALED = "sealed"
INDEX = "index"
KEY = b'"index":'
LONGEST_ERROR = 200
OPEN = "open"
"""The key of the step that records the inputs of the first model call."""
SAVED = "saved"
"""The key of the step that records what capabilities have stored for the next request since the
step `OPEN`.
"""


def expand(messages: Iterable[ModelMessage]) -> list[ModelMessage]:
    """Return the messages with the stored tool calls and results inserted before the answers to
    which they belong.
    """
    return [item for message in messages for item in expand_one(message)]


def expand_one(message: ModelMessage) -> Iterator[ModelMessage]:
    if message.role != "assistant":
        yield with_model_parts(message)
        return
    state = dict(unseal(message.state))
    stored = state.pop(HISTORY, None)
    if isinstance(stored, list):
        if stored and isinstance(stored[0], Mapping) and "tool_call" in stored[0]:
            logger.warning(
                "A conversation uses the old format of %s, which is still supported.", HISTORY
            )
            stored = [written for pair in stored for written in from_old_form(pair)]
        yield from read_stored(stored)
    yield with_model_parts(replace(message, state=state) if state != message.state else message)


def from_old_form(pair: Any) -> Iterator[dict[str, Any]]:
    """Convert the old format, `{tool_call, tool_execution_result}`, to two messages: the call and
    its result.
    """
    call = pair.get("tool_call") if isinstance(pair, Mapping) else None
    if not isinstance(call, Mapping):
        return
    result = pair.get("tool_execution_result")
    content = result.get("content") if isinstance(result, Mapping) else result
    yield {"role": "assistant", "tool_calls": [call]}
    yield {"role": "tool", "content": str(content or ""), "tool_call_id": call.get("id")}


def newest_state(messages: Sequence[ModelMessage]) -> Mapping[str, Any]:
    """Return the state of the last answer that has one, or {}. It contains what capabilities stored
    for this request.
    """
    for message in reversed(messages):
        if message.role == "assistant" and (message.state or message.model_state):
            return message.state
    return {}


def new_tool_messages(
    messages: Sequence[ModelMessage], before: Sequence[ModelMessage]
) -> list[dict[str, Any]]:
    """Return the tool calls and results after the last question, except those in `before`.

    Calls are also compared by ID, because a history step may have rewritten a message.
    """
    known = {id(message) for message in before}
    brought = {call.id for message in since_question(before) for call in message.tool_calls}
    return to_dicts(
        message
        for message in since_question(messages)
        if id(message) not in known and is_new(message, brought)
    )


def since_question(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
    questions = (i for i in range(len(messages) - 1, -1, -1) if messages[i].role == "user")
    return messages[next(questions, -1) + 1 :]


def is_new(message: ModelMessage, brought: Collection[str]) -> bool:
    if message.role == "tool":
        return message.tool_call_id not in brought
    return any(call.id not in brought for call in message.tool_calls)


# Clients send these messages, so their structure is checked. Models reject calls without results
# and results without calls.


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


def read_stored(stored: Iterable[Any]) -> Iterator[ModelMessage]:
    """Yield the stored messages, without calls that lack a result or results that lack a call."""
    groups: list[list[ModelMessage]] = []
    for written in stored:
        try:
            msgspec.convert(written, StoredMessage)
        except msgspec.ValidationError as error:
            # The error can quote the message, which a client sent.
            logger.warning(
                "A stored tool message was ignored: %s", ascii(str(error)[:LONGEST_ERROR])
            )
            continue
        message = from_dict(written)
        if message.role == "assistant" or not groups:
            groups.append([])
        groups[-1].append(message)
    for group in groups:
        yield from complete_part(group)


def complete_part(group: list[ModelMessage]) -> Iterator[ModelMessage]:
    """Yield the calls that have results, and then these results. `group` is the message with the
    calls and the messages after it.
    """
    first, *others = group
    call_ids = {call.id for call in first.tool_calls}
    results = {m.tool_call_id: m for m in others if m.tool_call_id in call_ids}
    if results:
        calls = tuple(call for call in first.tool_calls if call.id in results)
        yield first if len(calls) == len(first.tool_calls) else replace(first, tool_calls=calls)
        yield from results.values()


# DIAL's SDK joins the chunks of a stream by the key `index`, even inside the state, and removes it.
# Entries with that key are therefore sent as text.


def seal(state: Mapping[str, Any]) -> dict[str, Any]:
    """Encode all values of the state that contain the key `index` as one text, as DIAL's SDK
    requires. Return the new state.
    """
    if KEY not in msgspec.json.encode(state):  # Nearly always true, and faster than a search.
        return dict(state)
    exposed = {name: value for name, value in state.items() if has_index(value)}
    if not exposed:
        return dict(state)
    rest = {name: value for name, value in state.items() if name not in exposed}
    return {**rest, SEALED: msgspec.json.encode(exposed).decode()}


def unseal(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Undo `seal`. An encoded part that cannot be parsed is omitted."""
    if SEALED not in state:
        return state
    rest = {name: value for name, value in state.items() if name != SEALED}
    try:
        exposed = msgspec.json.decode(state[SEALED])
    except (msgspec.DecodeError, TypeError, UnicodeError, RecursionError):
        exposed = None
    if not isinstance(exposed, Mapping):
        logger.warning("Ignored an unreadable part of a state that a client returned.")
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


def next_state(
    before: Sequence[ModelMessage], progress: Progress, tidying: Sequence[Tidy]
) -> dict[str, Any]:
    """Return the state that the client must send back with the next request. `before` are the
    request's messages, with the tool calls of earlier answers.
    """
    conversation: Sequence[ModelMessage] = progress.conversation.messages
    for tidy in tidying:
        conversation = tidy(conversation)
    state: dict[str, Any] = {HISTORY: new_tool_messages(conversation, before)}
    for message in progress.conversation.added:
        if not message.tool_calls:
            state |= written_state(replace(message, state={}) if message.state else message)
    return state


def recorded_state(ledger: Ledger) -> dict[str, Any]:
    """Return the data that capabilities had stored for the next request before the run was
    interrupted, or {}.
    """
    for key in (SAVED, OPEN):
        step = ledger.step(key)
        if step is not None:
            return dict(step.result["saved"])
    return {}


def recorded_taint(ledger: Ledger, messages: Sequence[ModelMessage], taint: Taint | None) -> Taint:
    """Return the `taint` of the outer run, or a new one with the sources that earlier steps of this
    run recorded. In both cases, add the sources in the states of the messages.
    """
    if taint is None:
        taint = Taint(ledger)
        if ledger.is_kept and (step := ledger.step(UNTRUSTED)) is not None:
            taint.keep(sources_in(step.result))
    for message in messages:
        # The states of questions count too, because a client may have sent them.
        if UNTRUSTED in message.state:
            taint.keep(sources_in(message.state))
    return taint


async def record_state(
    ledger: Ledger, saved: Mapping[str, Any], call: ToolCall, result: ToolResult
) -> ToolResult:
    """If a tool call has changed the data that capabilities store for the next request, record the
    data. Return the call's result.
    """
    written = write_record(saved)
    if written != recorded_state(ledger):
        ledger.record(Step(SAVED, "open", "done", result={"saved": written}))
    return result
