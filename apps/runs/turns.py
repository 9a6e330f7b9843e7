"""Rewrites conversations so that user and assistant messages alternate, which all services accept.

Some services reject conversations that begin or end with an assistant message, consecutive messages
with the same role, or calls without results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from apps.agent.messages import Content, ModelMessage

NO_RESULT = "No result was sent for this call."
BEGIN = ModelMessage("user", "Begin.")
CONTINUE = ModelMessage("user", "Continue your last message from exactly where it ends.")


def in_turns(messages: Iterable[ModelMessage]) -> list[ModelMessage]:
    """Rewrite the messages so that all services accept them: each call has a result, user and
    assistant messages alternate, and the last message is from the user or a tool.
    """
    turns: list[list[ModelMessage]] = []
    for message in answer_open_calls(messages):
        if turns and is_continued(turns[-1][-1], message):
            turns[-1].append(message)
        else:
            turns.append([message])
    found = [join_messages(turn) for turn in turns]
    if not found or found[0].role != "user":
        found.insert(0, BEGIN)
    if found[-1].role == "assistant":
        found.append(CONTINUE)
    return found


def answer_open_calls(messages: Iterable[ModelMessage]) -> Iterator[ModelMessage]:
    """Yield the messages. Each call without a result gets the result `NO_RESULT`."""
    waiting: dict[str | None, None] = {}
    for message in messages:
        if message.role == "tool":
            waiting.pop(message.tool_call_id, None)
        else:
            yield from map(without_result, waiting)
            waiting = dict.fromkeys(call.id for call in message.tool_calls)
        yield message
    yield from map(without_result, waiting)


def without_result(call_id: str | None) -> ModelMessage:
    return ModelMessage("tool", NO_RESULT, tool_call_id=call_id)


def is_continued(first: ModelMessage, second: ModelMessage) -> bool:
    return first.role == second.role != "tool" and not first.tool_calls


def join_messages(turn: Sequence[ModelMessage]) -> ModelMessage:
    """Join the messages into one. If their authors' names differ, the names become part of the
    text.
    """
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


def with_name(message: ModelMessage) -> Content:
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
