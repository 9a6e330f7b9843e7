"""Stores output items that must be sent back to the model, and restores them in order.

The service's own items (reasoning, and calls to its tools) are stored as the service sent them.
Texts and function calls are reduced to positions and IDs, because the message contains their
content, and may be rewritten before it is sent again.
"""

import hashlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec

from apps.agent.messages import ModelMessage, ToolCall

logger = logging.getLogger(__name__)

ITEMS = "response_items"
"""The key in `Thoughts.parts` that contains the stored items as JSON."""
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
"""The types of items that are sent back unchanged.

Images are omitted: the service does not store them, they would add megabytes to each request, and
the answer already contains them as attachments. Calls that are waiting for our result are omitted
too: nothing here runs them, and the service rejects a conversation without their results.
"""
MESSAGE_KEYS = ("id", "phase")
CALL_KEYS = ("id", "namespace")
LONGEST_ID = 64
"""The maximum length in characters that the API accepts for call IDs. Models, including OpenAI's,
generate longer IDs.
"""
TEXT_LENGTH = "text_length"
"""The key in a stored message for the number of characters that it contributed to the answer's
text.
"""
BETWEEN_TEXTS = "\n\n"


def kept_items(items: Iterable[tuple[Mapping[str, Any], int]]) -> str:
    """Return the JSON of the output items to store, or "" if the message itself contains
    everything. `items` pairs each item with the length of its text.
    """
    kept = [kept_item(item, length) for item, length in items]
    if not any(is_sent_back(one) or "phase" in one for one in kept):
        return ""
    return msgspec.json.encode(kept).decode()


def kept_item(item: Mapping[str, Any], length: int) -> Mapping[str, Any]:
    """Return the form in which an item is stored: unchanged if it is sent back, otherwise its type
    and IDs. `length` is the length of its text.
    """
    kind = text_field(item, "type")
    match kind:
        case "message":
            return {"type": kind, TEXT_LENGTH: length, **texts_of(item, MESSAGE_KEYS)}
        case "function_call":
            return {"type": kind, **texts_of(item, ("id", "call_id", "namespace"))}
        case _:
            return item if is_sent_back(item) else {"type": kind}


def is_sent_back(item: Mapping[str, Any]) -> bool:
    """Return True if the item must be sent back unchanged, because it is one of the service's own
    items and is complete.
    """
    kind = text_field(item, "type")
    has_thoughts = bool(item.get("encrypted_content") or item.get("content"))
    return kind in WHOLE and (kind != "reasoning" or has_thoughts)


def texts_of(item: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    return {name: text for name in names if (text := text_field(item, name))}


def read_items(message: ModelMessage) -> list[Mapping[str, Any]]:
    """Return the stored items, or [] if there are none or they are unreadable. A client may have
    changed the state.
    """
    written = message.thoughts.parts.get(ITEMS) if message.thoughts is not None else None
    if written is None:
        return []
    try:
        items = msgspec.json.decode(written, type=list[dict[str, Any]])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        logger.warning("Dropped stored items of an answer: they cannot be read")
        return []
    return [item for item in items if text_field(item, "type")]


def assistant_items(message: ModelMessage) -> Iterator[Mapping[str, Any]]:
    """Yield the input items for an answer: the stored items in order, then the remaining text and
    calls.
    """
    if kept := read_items(message):
        yield from restore_items(message, kept)
        return
    if text := message_text(message):
        yield {"role": "assistant", "content": text}
    yield from map(call_item, message.tool_calls)


def restore_items(
    message: ModelMessage, kept: Sequence[Mapping[str, Any]]
) -> Iterator[Mapping[str, Any]]:
    text = message_text(message)
    lengths = [length_of(one) for one in kept if one["type"] == "message"]
    if text and not lengths:
        yield {"role": "assistant", "content": text}
    texts = texts_in(text, lengths)
    calls = {call.id: call for call in message.tool_calls}
    yield from linked_items([(one, still_there(one, texts, calls)) for one in kept])
    yield from map(call_item, calls.values())


Found = str | ToolCall | Mapping[str, Any] | None


def still_there(kept: Mapping[str, Any], texts: Iterator[str], calls: dict[str, ToolCall]) -> Found:
    """Return the text, the call or the item itself that belongs to a stored item, or None if the
    message no longer has it. A returned call is removed from `calls`.
    """
    match kept["type"]:
        case "message":
            return next(texts, "") or None
        case "function_call":
            return calls.pop(text_field(kept, "call_id"), None)
        case _:
            return kept if is_sent_back(kept) else None


def linked_items(items: Iterable[tuple[Mapping[str, Any], Found]]) -> Iterator[Mapping[str, Any]]:
    """Yield the input items for stored items. `items` pairs each stored item with its content, or
    with None if the message no longer has it.

    The service rejects reasoning without the item that followed it, and items with known IDs
    without the reasoning before them. Therefore, if the reasoning or the first item after it is
    missing, both are omitted, and the other items that followed that reasoning are written without
    IDs.
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
            yield from written_items(kept if is_whole else {}, value)
        thoughts = []


def written_items(kept: Mapping[str, Any], found: Found) -> Iterator[Mapping[str, Any]]:
    """Yield the input item for `found`, if there is one. If `kept` is empty, the item gets no IDs,
    and the service's own items, which need IDs, are omitted.
    """
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
    """Split the text into parts of these lengths. If the lengths do not match because the text was
    rewritten, yield the text unchanged.
    """
    if sum(lengths) != len(text):
        lengths = [len(text)]
    start = 0
    for length in lengths:
        yield text[start : start + length].removeprefix(BETWEEN_TEXTS if start else "")
        start += length


def length_of(kept: Mapping[str, Any]) -> int:
    length = kept.get(TEXT_LENGTH)
    return length if type(length) is int and length >= 0 else 0


def message_text(message: ModelMessage) -> str:
    """Return the text of a message, or "" if it contains only white space, which means that the
    answer was empty.
    """
    return message.text if message.text.strip() else ""


def text_item(kept: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    if not text_field(kept, "id"):
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
    """Shorten the ID of a call if it is too long. A call and its result get the same ID."""
    if len(call_id) <= LONGEST_ID:
        return call_id
    return f"call_{hashlib.sha256(call_id.encode()).hexdigest()[:48]}"


def text_field(written: Any, name: str) -> str:
    found = written.get(name) if isinstance(written, Mapping) else None
    return found if isinstance(found, str) else ""


def mappings(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def strings(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
