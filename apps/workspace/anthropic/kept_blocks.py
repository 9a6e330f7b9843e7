"""Stores the blocks that must be sent back unchanged: a model's thinking, and the calls and results
of its service's tools.

`ModelMessage.thoughts` stores the blocks of an answer as JSON, in order. Texts are reduced to their
lengths, and calls to our tools to their positions, because the message itself contains both.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from apps.agent.messages import ModelMessage, ToolCall
from apps.workspace.anthropic.contents import Block, message_blocks, text_block

PART = "message_blocks"
"""The key in `Thoughts.parts` that contains the blocks."""

THOUGHTS = frozenset({"thinking", "redacted_thinking"})

_usable = re.compile(r"[A-Za-z0-9_-]{1,64}")
_unusable = re.compile(r"[^A-Za-z0-9_-]")
_read = msgspec.json.Decoder(list[dict[str, Any]]).decode


def is_kept(block: Mapping[str, Any]) -> bool:
    """Return True for a block that must be sent back: thinking, a call to the service's own tool,
    or the result of such a call.
    """
    kind = str(block.get("type"))
    return kind in THOUGHTS or kind == "server_tool_use" or kind.endswith("_tool_result")


def write_blocks(blocks: Sequence[Block]) -> str:
    """Return the blocks of an answer as JSON, or "" if all of them are texts and calls to our
    tools.
    """
    if not any(map(is_kept, blocks)):
        return ""
    return msgspec.json.encode(list(map(kept_form, blocks))).decode()


def kept_form(block: Block) -> Block:
    if block["type"] == "text":
        return {"type": "text", "length": len(block["text"])}
    return block if is_kept(block) else {"type": block["type"]}


def answer_blocks(message: ModelMessage) -> list[Block]:
    """Return the blocks of an assistant message: its stored blocks, texts and calls."""
    kept = read_blocks(message)
    whole = list(restore_blocks(message, kept)) if kept and fits(message, kept) else None
    if whole is not None:
        return whole
    thoughts = [block for block in kept if is_kept(block)]
    return [*thoughts, *message_blocks(message), *map(call_block, message.tool_calls)]


def read_blocks(message: ModelMessage) -> list[Block]:
    """Parse the stored blocks. Return [] if there are none, or if a client has made them
    invalid.
    """
    written = message.thoughts.parts.get(PART) if message.thoughts is not None else None
    if written is None:
        return []
    try:
        return _read(written)
    except (msgspec.DecodeError, RecursionError):
        return []


def fits(message: ModelMessage, kept: Sequence[Block]) -> bool:
    """Return True if the message still has the texts and calls whose lengths and positions `kept`
    describes. A client may have changed the message.
    """
    lengths = [block.get("length") for block in kept if block.get("type") == "text"]
    calls = sum(block.get("type") == "tool_use" for block in kept)
    return (
        all(type(length) is int and length >= 0 for length in lengths)
        and sum(length or 0 for length in lengths) == len(message.text)
        and calls == len(message.tool_calls)
        and not message.attachments
    )


def restore_blocks(message: ModelMessage, kept: Sequence[Block]) -> Iterator[Block]:
    calls, position = iter(message.tool_calls), 0
    for block in kept:
        match block:
            case {"type": "text", "length": int(length)}:
                text = message.text[position : position + length]
                position += length
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
    """Return the ID if the API accepts it, otherwise an ID that is derived from it. The call may
    come from another model.
    """
    written = call_id or ""
    if _usable.fullmatch(written):
        return written
    digest = hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{_unusable.sub('_', written)[:48]}_{digest[:8]}"


def read_input(arguments: str) -> msgspec.Raw | dict[str, Any]:
    """Parse the arguments of a call. Return {} if they are not a JSON object."""
    written = arguments.encode()
    try:
        found = msgspec.json.decode(written)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
    return msgspec.Raw(written) if isinstance(found, dict) else {}
