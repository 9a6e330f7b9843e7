"""Output items that a model has to read again, kept with its message and put back in their order.

Items of the model's own (reasoning, calls of the service's tools) are kept as the service wrote
them. Texts and calls of functions stand in the message, which may be rewritten before it is sent
again; of them only the place and the ids are kept.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec

from apps.agent.messages import Message, ToolCall
from apps.workspace.responses.fields import text_in

logger = logging.getLogger(__name__)

ITEMS = "response_items"
"""The name of the kept items in `Thoughts.parts`, where they are JSON."""
WHOLE = frozenset(
    {
        "reasoning",
        "compaction",
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
    }
)
"""Types that are sent back. A call that waits for a result of ours is none of them: nobody here
runs it, and the service refuses a conversation in which its result is missing."""
MESSAGE_KEYS = ("id", "phase")
CALL_KEYS = ("id", "call_id", "namespace")
TEXT_LENGTH = "text_length"
"""In a kept message: how many characters of the answer's text are its own."""
BETWEEN_TEXTS = "\n\n"


def kept_items(items: Iterable[tuple[Mapping[str, Any], int]]) -> str:
    """The JSON of the output items, given with the lengths of their texts; "" where the message
    itself tells everything."""
    kept = [one for item, length in items if (one := kept_item(item, length)) is not None]
    if not any(one["type"] in WHOLE or "phase" in one for one in kept):
        return ""
    return msgspec.json.encode(kept).decode()


def kept_item(item: Mapping[str, Any], length: int) -> Mapping[str, Any] | None:
    match kind := item.get("type"):
        case "message":
            return {"type": kind, TEXT_LENGTH: length, **texts_of(item, MESSAGE_KEYS)}
        case "function_call":
            return {"type": kind, **texts_of(item, CALL_KEYS)}
        case "image_generation_call":
            # The picture is an attachment of the answer; its megabytes would be sent in each round.
            return {**item, "result": None}
        case str() if kind in WHOLE:
            return item
    return None


def texts_of(item: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    return {name: text for name in names if (text := text_in(item, name))}


def read_kept(message: Message) -> list[Mapping[str, Any]]:
    """The kept items; [] for none, and for some that cannot be read: a client may have written
    into the state."""
    written = message.thoughts.parts.get(ITEMS) if message.thoughts is not None else None
    if written is None:
        return []
    try:
        items = msgspec.json.decode(written, type=list[dict[str, Any]])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        logger.warning("Kept items of an answer cannot be read and are left out")
        return []
    known = {*WHOLE, "message", "function_call"}
    return [item for item in items if text_in(item, "type") in known]


def assistant_items(message: Message) -> Iterator[Mapping[str, Any]]:
    """An answer as input items: what was kept, in its order, then the rest of text and calls."""
    if kept := read_kept(message):
        yield from restored(message, kept)
        return
    if text := spoken(message):
        yield {"role": "assistant", "content": text}
    yield from map(call_item, message.tool_calls)


def restored(message: Message, kept: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    text = spoken(message)
    lengths = [length_of(one) for one in kept if one["type"] == "message"]
    if text and not lengths:
        yield {"role": "assistant", "content": text}
    texts = texts_in(text, lengths)
    calls = {call.id: call for call in message.tool_calls}
    yield from with_followers([(one["type"], filled(one, texts, calls)) for one in kept])
    yield from map(call_item, calls.values())


def filled(
    kept: Mapping[str, Any], texts: Iterator[str], calls: dict[str, ToolCall]
) -> Mapping[str, Any] | None:
    """The item with its text, or with its call, which is taken; None if that is gone."""
    match kept["type"]:
        case "message":
            return text_item(kept, next(texts, ""))
        case "function_call":
            call = calls.pop(text_in(kept, "call_id"), None)
            return None if call is None else {**call_item(call), **texts_of(kept, CALL_KEYS)}
        case _:
            return kept


def with_followers(
    items: Iterable[tuple[str, Mapping[str, Any] | None]],
) -> Iterator[Mapping[str, Any]]:
    """The items, each with its type, that are still there, without reasoning that led to none of
    them: the service refuses reasoning without the item that followed it."""
    thoughts: list[Mapping[str, Any]] = []
    for is_reasoning, group in groupby(items, lambda pair: pair[0] == "reasoning"):
        there = [item for _, item in group if item is not None]
        if is_reasoning:
            thoughts = there
        elif there:
            yield from (*thoughts, *there)


def texts_in(text: str, lengths: list[int]) -> Iterator[str]:
    """The text in pieces of these lengths; in one piece if they do not fit, for it was rewritten."""
    if sum(lengths) != len(text):
        lengths = [len(text)]
    start = 0
    for length in lengths:
        yield text[start : start + length].removeprefix(BETWEEN_TEXTS if start else "")
        start += length


def length_of(kept: Mapping[str, Any]) -> int:
    length = kept.get(TEXT_LENGTH)
    return length if type(length) is int and length >= 0 else 0


def spoken(message: Message) -> str:
    """The text; "" for one that only stands in for an empty answer."""
    return message.text if message.text.strip() else ""


def text_item(kept: Mapping[str, Any], text: str) -> Mapping[str, Any] | None:
    if not text:
        return None
    if not text_in(kept, "id"):
        return {"role": "assistant", "content": text, **texts_of(kept, MESSAGE_KEYS)}
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"type": "message", "role": "assistant", "status": "completed", "content": content}
    return message | texts_of(kept, MESSAGE_KEYS)


def call_item(call: ToolCall) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.arguments,
    }
