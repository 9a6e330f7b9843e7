"""Marks for services that speak DIAL: up to them a model's cache keeps the beginning of a request.

They stand where those of Anthropic's API do: on the system prompt, on the last tool, and on the last
message before the newest ones of one side.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from apps.agent.messages import Message

MARK: Mapping[str, Any] = {"cache_breakpoint": {}}

Fields = Mapping[str, Any]
Tool = msgspec.Raw | Fields


def marked_tools(tools: Sequence[Tool]) -> list[Tool]:
    *others, last = tools
    written = msgspec.json.decode(last) if isinstance(last, msgspec.Raw) else last
    return [*others, marked(written)]


def marked_messages(messages: Sequence[Message], written: Sequence[Fields]) -> list[Fields]:
    """`written` are the messages as they are sent."""
    places = marked_places(messages)
    return [marked(one) if place in places else one for place, one in enumerate(written)]


def marked_places(messages: Sequence[Message]) -> set[int]:
    """The last system message, and the last one of the other side before the newest messages."""
    found: set[int] = set()
    systems = [place for place, one in enumerate(messages) if one.role == "system"]
    found.update(systems[-1:])
    spoken = [place for place, one in enumerate(messages) if one.role != "system"]
    if spoken:
        newest = messages[spoken[-1]].role == "assistant"
        before = [place for place in spoken if (messages[place].role == "assistant") != newest]
        found.update(before[-1:])
    return found


def marked(fields: Fields) -> Fields:
    return {**fields, "custom_fields": {**fields.get("custom_fields", {}), **MARK}}
