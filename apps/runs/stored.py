"""Tool calls that a client brings back: read as far as they are what was once written.

They went through other hands, so nothing of their shape is taken for granted: models refuse a
conversation in which a call has no result, or a result no call.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from apps.agent.messages import Message, from_dict

logger = logging.getLogger(__name__)


class StoredFunction(BaseModel):
    name: str = Field(min_length=1)
    arguments: str | None = None


class StoredCall(BaseModel):
    id: str = Field(min_length=1)
    function: StoredFunction


class StoredAttachment(BaseModel):
    type: str | None = None
    title: str | None = None
    data: str | None = None
    url: str | None = None
    reference_type: str | None = None
    reference_url: str | None = None


class StoredCustomContent(BaseModel):
    attachments: list[StoredAttachment] | None = None
    state: dict[str, Any] | None = None


class StoredMessage(BaseModel):
    role: Literal["assistant", "tool"]
    content: str | list[dict[str, Any]] | None = None
    tool_calls: list[StoredCall] | None = None
    tool_call_id: str | None = None
    custom_content: StoredCustomContent | None = None


def read_stored(stored: Iterable[Any]) -> list[Message]:
    """The messages, each call with its results and each result with its call."""
    messages = [message for written in stored for message in read_one(written)]
    return [message for group in groups(messages) for message in complete(group)]


def read_one(written: Any) -> Iterator[Message]:
    """The message, if it is one; this checks the shape that `from_dict` relies on."""
    try:
        StoredMessage.model_validate(written, strict=True)
    except ValidationError as error:
        logger.warning(
            "A stored tool message was left out: %s",
            error.errors(include_input=False, include_url=False)[0]["msg"],
        )
    else:
        yield from_dict(written)


def groups(messages: Iterable[Message]) -> list[list[Message]]:
    """Each call of tools with the results that follow it."""
    found: list[list[Message]] = []
    for message in messages:
        if message.role == "assistant" or not found:
            found.append([])
        found[-1].append(message)
    return found


def complete(group: list[Message]) -> Iterator[Message]:
    """The calls that have results, then the results that have calls."""
    asked, *others = group
    wanted = {call.id for call in asked.tool_calls}
    results = {m.tool_call_id: m for m in others if m.tool_call_id in wanted}
    if results:
        calls = tuple(call for call in asked.tool_calls if call.id in results)
        yield asked if len(calls) == len(asked.tool_calls) else replace(asked, tool_calls=calls)
        yield from results.values()
