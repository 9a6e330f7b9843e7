"""Output items that a model has to read again, kept with its message and put back in their order.

Items of the model's own (reasoning, calls of the service's tools) are kept as the service wrote
them. Texts and calls of functions stand in the message, which may be rewritten before it is sent
again; of them only the place and the ids are kept.
"""

import hashlib
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
        "mcp_call",
        "mcp_list_tools",
    }
)
"""Types that are sent back. Pictures are not: the service has not stored them, their megabytes would
travel with each request, and they are attachments of the answer. Neither is a call that waits for a
result of ours: nobody here runs it, and the service refuses a conversation without its result."""
MESSAGE_KEYS = ("id", "phase")
CALL_KEYS = ("id", "namespace")
LONGEST_ID = 64
"""Characters of a call's id that the API takes; its own models, and others, write longer ones."""
TEXT_LENGTH = "text_length"
"""In a kept message: how many characters of the answer's text are its own."""
BETWEEN_TEXTS = "\n\n"


def kept_items(items: Iterable[tuple[Mapping[str, Any], int]]) -> str:
    """The JSON of the output items, given with the lengths of their texts; "" where the message
    itself tells everything."""
    kept = [kept_item(item, length) for item, length in items]
    if not any(is_sent_back(one) or "phase" in one for one in kept):
        return ""
    return msgspec.json.encode(kept).decode()


def kept_item(item: Mapping[str, Any], length: int) -> Mapping[str, Any]:
    """Of an item that is not sent back only the place."""
    kind = text_in(item, "type")
    match kind:
        case "message":
            return {"type": kind, TEXT_LENGTH: length, **texts_of(item, MESSAGE_KEYS)}
        case "function_call":
            return {"type": kind, **texts_of(item, ("id", "call_id", "namespace"))}
        case _:
            return item if is_sent_back(item) else {"type": kind}


def is_sent_back(item: Mapping[str, Any]) -> bool:
    """Whether the item is the service's own and complete: it has not stored what it thought."""
    kind = text_in(item, "type")
    has_thoughts = bool(item.get("encrypted_content") or item.get("content"))
    return kind in WHOLE and (kind != "reasoning" or has_thoughts)


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
    return [item for item in items if text_in(item, "type")]


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
    yield from linked([(one, still_there(one, texts, calls)) for one in kept])
    yield from map(call_item, calls.values())


Found = str | ToolCall | Mapping[str, Any] | None


def still_there(kept: Mapping[str, Any], texts: Iterator[str], calls: dict[str, ToolCall]) -> Found:
    """The text, the call, which is taken, or the item itself; None for what is gone."""
    match kept["type"]:
        case "message":
            return next(texts, "") or None
        case "function_call":
            return calls.pop(text_in(kept, "call_id"), None)
        case _:
            return kept if is_sent_back(kept) else None


def linked(items: Iterable[tuple[Mapping[str, Any], Found]]) -> Iterator[Mapping[str, Any]]:
    """The items that are still there.

    The service refuses reasoning without the item that followed it, and items that it knows by
    their ids without the reasoning before them. So where reasoning or the first item after it is
    gone, both are left out, and what else it led to is written without ids.
    """
    thoughts: list[tuple[Mapping[str, Any], Found]] = []
    for is_reasoning, group in groupby(items, lambda pair: pair[0]["type"] == "reasoning"):
        found = list(group)
        if is_reasoning:
            thoughts = found
            continue
        needed = (*thoughts, found[0])
        is_whole = not thoughts or all(value is not None for _, value in needed)
        for kept, value in (*thoughts, *found):
            yield from written(kept if is_whole else {}, value)
        thoughts = []


def written(kept: Mapping[str, Any], found: Found) -> Iterator[Mapping[str, Any]]:
    """`kept` is empty for an item without its ids, which those of the service cannot be."""
    match found:
        case None:
            return
        case str():
            yield text_item(kept, found)
        case ToolCall():
            yield {**call_item(found), **texts_of(kept, CALL_KEYS)}
        case _ if kept:
            yield kept
        case _:
            return


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


def text_item(kept: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    if not text_in(kept, "id"):
        return {"role": "assistant", "content": text, **texts_of(kept, MESSAGE_KEYS)}
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"type": "message", "role": "assistant", "status": "completed", "content": content}
    return message | texts_of(kept, MESSAGE_KEYS)


def call_item(call: ToolCall) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": short_id(call.id),
        "name": call.name,
        "arguments": call.arguments,
    }


def short_id(call_id: str) -> str:
    """The id, or a shorter one that is always the same, so that calls find their results."""
    if len(call_id) <= LONGEST_ID:
        return call_id
    return f"call_{hashlib.sha256(call_id.encode()).hexdigest()[:48]}"
