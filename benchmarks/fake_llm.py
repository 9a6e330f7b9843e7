"""A model's service that costs next to nothing: what is measured is whoever stands before it.

What it does is written in the request, so it passes through every system unchanged:

    tokens=200 delay_ms=5 first_ms=0 tool=name_of_a_tool

Every token carries the time it was sent at (`<19 digits of CLOCK_MONOTONIC>`), so a client on
the same machine can tell how long it was under way. With a tool, the first turn calls it (its
arguments in eight pieces) and the turn after its result answers.

It also answers what DIAL Core is asked before that, so the site can be reached as Core reaches it:
any key is the application's, and the application is the one that the site has itself.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import time
from typing import cast

import uvloop

WISH = re.compile(rb"tokens=(\d+) delay_ms=([\d.]+) first_ms=([\d.]+) tool=(\w*)")
LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
TOOL_RESULT = re.compile(rb'"tool_call_id":\s*"call_1"')
"""Of the call that was made here: a system may put other pairs of call and result in front."""
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
ARGUMENTS = ('{"time', "zone", '":', ' "', "U", "T", "C", '"}')
COMMON = {
    "id": "chatcmpl-fake",
    "object": "chat.completion.chunk",
    "created": 1_700_000_000,
    "model": "fake-model",
    "service_tier": "default",
    "system_fingerprint": "fp_fake",
}


def event(delta: object, finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return written({**COMMON, "choices": [choice], "usage": None})


def written(chunk: object) -> bytes:
    data = b"data: " + json.dumps(chunk, separators=(",", ":")).encode() + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(data), data)


def call(name: str) -> bytes:
    function = {"name": name, "arguments": ""}
    first = {"index": 0, "id": "call_1", "type": "function", "function": function}
    pieces = [{"index": 0, "function": {"arguments": piece}} for piece in ARGUMENTS]
    opening = event({"role": "assistant", "content": None, "tool_calls": [first]})
    return opening + b"".join(event({"tool_calls": [piece]}) for piece in pieces)


def end(reason: str) -> bytes:
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    done = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
    return event({}, reason) + written({**COMMON, "choices": [], "usage": usage}) + done


def document(value: object, status: str = "200 OK") -> bytes:
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


APPLICATION = {
    "id": "kept",
    "display_name": "Kept",
    "application_properties": {
        "orchestrator": {"deployment": {"deployment_id": "bench"}},
        "contexts": [],
        "tool_sets": [],
    },
}
DOCUMENTS = {
    b"/v1/bucket": document({"bucket": "app", "appdata": "user/appdata/kept"}),
    b"/openai/applications/kept": document(APPLICATION),
    b"/openai/models/bench": document({"id": "bench", "display_name": "Bench"}),
}
MISSING = document("", "404 Not Found")
ROLE = event({"role": "assistant", "content": ""})
BEFORE, _, AFTER = event({"content": "<0000000000000000000>"}).partition(b"0000000000000000000")
END = end("stop")


class Upstream(asyncio.Protocol):
    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.transport: asyncio.Transport | None = None
        self.received = b""
        self.left = 0
        self.delay = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, found, _ = self.received.partition(b"\r\n\r\n")
        if not found:
            return
        length = LENGTH.search(head)
        size = len(head) + 4 + (int(length[1]) if length else 0)
        if len(self.received) >= size:
            request, self.received = self.received[:size], self.received[size:]
            self.answer(request)

    def answer(self, request: bytes) -> None:
        assert self.transport is not None
        if request.startswith(b"GET "):
            self.transport.write(DOCUMENTS.get(request.split(b" ", 2)[1], MISSING))
            return
        wish = WISH.search(request)
        tokens, delay, first, tool = wish.groups() if wish else (b"1", b"0", b"0", b"")
        if tool and not TOOL_RESULT.search(request):
            self.transport.write(HEAD + call(tool.decode()) + end("tool_calls"))
            return
        self.transport.write(HEAD + ROLE)
        self.left, self.delay = int(tokens), float(delay) / 1000
        if float(first):
            self.loop.call_later(float(first) / 1000, self.say)
        else:
            self.say()

    def say(self) -> None:
        if self.transport is None:
            return
        self.left -= 1
        token = BEFORE + b"%019d" % time.monotonic_ns() + AFTER
        self.transport.write(token if self.left else token + END)
        if self.left and self.delay:
            self.loop.call_later(self.delay, self.say)
        elif self.left:
            self.loop.call_soon(self.say)


async def main(port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Upstream, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    uvloop.run(main(parser.parse_args().port))
