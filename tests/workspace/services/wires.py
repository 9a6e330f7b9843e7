"""The APIs of model services, described for the tests that apply to all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from apps.agent.model import Model
from apps.workspace.anthropic.model import make_anthropic_model
from apps.workspace.openai.model import make_openai_model
from apps.workspace.responses.model import make_responses_model
from tests.workspace.anthropic import wire as anthropic
from tests.workspace.openai import service as openai
from tests.workspace.responses import wire as responses


@dataclass(frozen=True)
class Wire:
    """An API. `error` builds an error event of the kind and the HTTP status, `begin` is an event of an
    answer without text, and `whole` builds a non-streamed answer with a text. `nonsense` are events
    that cannot be parsed.
    """

    name: str
    target: str
    make_model: Callable[..., Model]
    text: Callable[[str], bytes]
    finish: bytes
    done: bytes
    error: Callable[[int], bytes]
    begin: bytes
    whole: Callable[[str], bytes]
    nonsense: tuple[bytes, ...]
    key_header: tuple[str, str]
    """The headers for the key `key-1`."""

    def __str__(self) -> str:
        return self.name


def openai_error(status: int) -> bytes:
    return openai.event(error={"message": "key-1", "code": str(status)})


def openai_whole(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()


def anthropic_whole(text: str) -> bytes:
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    return json.dumps({"type": "message", "content": content, "stop_reason": "end_turn"}).encode()


def responses_text(text: str) -> bytes:
    return responses.encoded({"type": "response.output_text.delta", "delta": text})


def responses_error(status: int) -> bytes:
    codes = {400: "invalid_prompt", 429: "rate_limit_exceeded", 500: "server_error"}
    return responses.encoded({"type": "error", "code": codes[status], "message": "key-1"})


def responses_whole(text: str) -> bytes:
    return json.dumps(responses.response(responses.message(text)), ensure_ascii=False).encode()


WIRES = (
    Wire(
        "openai",
        "/v1/chat/completions",
        make_openai_model,
        openai.text,
        openai.finish(),
        openai.DONE,
        openai_error,
        openai.event(choices=[{"index": 0, "delta": {}, "finish_reason": None}]),
        openai_whole,
        (b'data: {"choices": 5}\n\n', b'data: {"choices":[{"delta":{"content":"a"}},5]}\n\n'),
        ("authorization", "Bearer key-1"),
    ),
    Wire(
        "anthropic",
        "/v1/messages",
        make_anthropic_model,
        anthropic.text,
        anthropic.finish(),
        anthropic.DONE,
        anthropic.error_of_status,
        anthropic.start(),
        anthropic_whole,
        (
            b'event: content_block_delta\ndata: {"type":"content_block_delta","delta":5}\n\n',
            b'data: {"type":"content_block_start","index":0,"content_block":"text"}\n\n',
        ),
        ("authorization", "Bearer key-1"),
    ),
    Wire(
        "responses",
        "/v1/responses",
        make_responses_model,
        responses_text,
        responses.encoded({"type": "response.completed", "response": responses.response()}),
        b"",
        responses_error,
        responses.encoded({"type": "response.created", "response": responses.response()}),
        responses_whole,
        (
            b'data: {"type":"response.output_text.delta","delta":5}\n\n',
            b'data: {"type":"response.output_item.done","output_index":0,"item":"text"}\n\n',
            b'data: {"type":"response.completed","response":null}\n\n',
        ),
        ("authorization", "Bearer key-1"),
    ),
)
