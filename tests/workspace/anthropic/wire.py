"""The published wire format of the Messages API, for scripted services."""

from __future__ import annotations

import json
from typing import Any

from apps.workspace.anthropic.wire import STATUSES


def event(kind: str, **fields: Any) -> bytes:
    data = json.dumps({"type": kind, **fields}, ensure_ascii=False, separators=(",", ":"))
    return f"event: {kind}\ndata: {data}\n\n".encode()


PING = event("ping")
DONE = event("message_stop")


def start(**usage: Any) -> bytes:
    message: dict[str, Any] = {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 1, **usage},
    }
    return event("message_start", message=message)


def begin(block: dict[str, Any], index: int = 0) -> bytes:
    return event("content_block_start", index=index, content_block=block)


def piece(kind: str, index: int = 0, **fields: Any) -> bytes:
    return event("content_block_delta", index=index, delta={"type": kind, **fields})


def end(index: int = 0) -> bytes:
    return event("content_block_stop", index=index)


def text(content: str, index: int = 0) -> bytes:
    return piece("text_delta", index, text=content)


def text_block(*contents: str, index: int = 0) -> bytes:
    pieces = b"".join(text(content, index) for content in contents)
    return begin({"type": "text", "text": ""}, index) + pieces + end(index)


def thought_block(*contents: str, signature: str = "c2ln", index: int = 0) -> bytes:
    pieces = b"".join(piece("thinking_delta", index, thinking=content) for content in contents)
    block = {"type": "thinking", "thinking": "", "signature": ""}
    return (
        begin(block, index)
        + pieces
        + piece("signature_delta", index, signature=signature)
        + end(index)
    )


def call_block(call_id: str, name: str, *inputs: str, index: int = 0) -> bytes:
    pieces = b"".join(piece("input_json_delta", index, partial_json=part) for part in inputs)
    block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    return begin(block, index) + pieces + end(index)


def finish(reason: str = "end_turn", **usage: Any) -> bytes:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return event("message_delta", delta=delta, usage={"output_tokens": 5, **usage})


def error(kind: str) -> bytes:
    return event("error", error={"type": kind, "message": "key-1 of https://internal"})


def error_of_status(status: int) -> bytes:
    return error(next(kind for kind, known in STATUSES.items() if known == status))
