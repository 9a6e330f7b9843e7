"""A conversation in which user and assistant take turns, which every service accepts.

Services differ in what they refuse: an assistant that speaks first or last, two messages of one
role in a row, calls without results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from apps.agent.messages import Content, Message

NO_RESULT = "No result was sent for this call."
BEGIN = Message("user", "Begin.")
CONTINUE = Message("user", "Continue your last message from exactly where it ends.")


def in_turns(messages: Iterable[Message]) -> list[Message]:
    """The messages so that every call has its result, user and assistant take turns, and the
    user or a tool speaks last.
    """
    turns: list[list[Message]] = []
    for message in answered(messages):
        if turns and is_continued(turns[-1][-1], message):
            turns[-1].append(message)
        else:
            turns.append([message])
    found = [joined(turn) for turn in turns]
    if not found or found[0].role != "user":
        found.insert(0, BEGIN)
    if found[-1].role == "assistant":
        found.append(CONTINUE)
    return found


def answered(messages: Iterable[Message]) -> Iterator[Message]:
    """The messages, with a `NO_RESULT` behind each unanswered call."""
    waiting: dict[str | None, None] = {}
    for message in messages:
        if message.role == "tool":
            waiting.pop(message.tool_call_id, None)
        else:
            yield from map(without_result, waiting)
            waiting = dict.fromkeys(call.id for call in message.tool_calls)
        yield message
    yield from map(without_result, waiting)


def without_result(call_id: str | None) -> Message:
    return Message("tool", NO_RESULT, tool_call_id=call_id)


def is_continued(first: Message, second: Message) -> bool:
    return first.role == second.role != "tool" and not first.tool_calls


def joined(turn: Sequence[Message]) -> Message:
    """One message of several; if their names differ, the names become part of the text."""
    last = turn[-1]
    if len(turn) == 1:
        return last
    is_one = len({message.name for message in turn}) == 1
    return replace(
        last,
        content=joined_content([m.content if is_one else with_name(m) for m in turn]),
        attachments=tuple(item for message in turn for item in message.attachments),
        state={key: value for message in turn for key, value in message.state.items()},
        extra={key: value for message in turn for key, value in message.extra.items()},
        name=last.name if is_one else "",
    )


def with_name(message: Message) -> Content:
    content = message.content
    if not message.name:
        return content
    if isinstance(content, str):
        return f"{message.name}: {content}"
    return (*as_parts(f"{message.name}:"), *content)


def joined_content(contents: Sequence[Content]) -> Content:
    texts = [content for content in contents if isinstance(content, str)]
    if len(texts) == len(contents):
        return "\n\n".join(text for text in texts if text)
    return tuple(part for content in contents for part in as_parts(content))


def as_parts(content: Content) -> tuple[Any, ...]:
    if not isinstance(content, str):
        return content
    return ({"type": "text", "text": content},) if content else ()
