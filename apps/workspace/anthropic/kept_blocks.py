"""Blocks that a model wants back as it wrote them: its thoughts and the tools of its service.

They are kept in `Message.thoughts` as JSON: the blocks of an answer in their order, in which a text
is but its length and a call of a tool but its place, because the message has both.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from apps.agent.messages import Message, ToolCall
from apps.workspace.anthropic.contents import Block, message_blocks, text_block

PART = "message_blocks"
"""The name in `Thoughts.parts`."""

THOUGHTS = frozenset({"thinking", "redacted_thinking"})

_unusable = re.compile(r"[^A-Za-z0-9_-]")
_read = msgspec.json.Decoder(list[dict[str, Any]]).decode


def is_kept(block: Mapping[str, Any]) -> bool:
    """Thoughts, calls of the service's tools, and their results."""
    kind = str(block.get("type"))
    return kind in THOUGHTS or kind == "server_tool_use" or kind.endswith("_tool_result")


def write_blocks(blocks: Sequence[Block]) -> str:
    """The part to keep of an answer's blocks; "" if there is nothing but texts and calls."""
    if not any(map(is_kept, blocks)):
        return ""
    return msgspec.json.encode(list(map(kept_form, blocks))).decode()


def kept_form(block: Block) -> Block:
    if block["type"] == "text":
        return {"type": "text", "length": len(block["text"])}
    return block if is_kept(block) else {"type": block["type"]}


def answer_blocks(message: Message) -> list[Block]:
    """The blocks of a message of the assistant, with those that it was kept with."""
    kept = read_blocks(message)
    whole = list(restored(message, kept)) if kept and fits(message, kept) else None
    if whole is not None:
        return whole
    thoughts = [block for block in kept if is_kept(block)]
    return [*thoughts, *message_blocks(message), *map(call_block, message.tool_calls)]


def read_blocks(message: Message) -> list[Block]:
    """[] for none, or for what a client has changed into something else."""
    written = message.thoughts.parts.get(PART) if message.thoughts is not None else None
    if written is None:
        return []
    try:
        return _read(written)
    except (msgspec.DecodeError, RecursionError):
        return []


def fits(message: Message, kept: Sequence[Block]) -> bool:
    """Whether the message still has the texts and the calls that the blocks tell the places of."""
    lengths = [block.get("length") for block in kept if block.get("type") == "text"]
    calls = sum(block.get("type") == "tool_use" for block in kept)
    return (
        all(type(length) is int and length >= 0 for length in lengths)
        and sum(length or 0 for length in lengths) == len(message.text)
        and calls == len(message.tool_calls)
        and not message.attachments
    )


def restored(message: Message, kept: Sequence[Block]) -> Iterator[Block]:
    calls, place = iter(message.tool_calls), 0
    for block in kept:
        match block:
            case {"type": "text", "length": int(length)}:
                text = message.text[place : place + length]
                place += length
                if text.strip():
                    yield text_block(text)
            case {"type": "tool_use"}:
                yield call_block(next(calls))
            case _:
                if is_kept(block):
                    yield block


def call_block(call: ToolCall) -> Block:
    return {
        "type": "tool_use",
        "id": usable_id(call.id),
        "name": call.name,
        "input": read_input(call.arguments),
    }


def usable_id(call_id: str | None) -> str:
    """The API takes letters, digits, `_` and `-` alone; other models may have called tools before."""
    return _unusable.sub("_", call_id or "")


def read_input(arguments: str) -> msgspec.Raw | dict[str, Any]:
    """The JSON object as the model wrote it; {} for anything else."""
    written = arguments.encode()
    try:
        found = msgspec.json.decode(written)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
    return msgspec.Raw(written) if isinstance(found, dict) else {}
