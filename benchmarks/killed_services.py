"""A model and its tools for runs that are killed. They are slow enough that a kill can hit any
step."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

TURNS = ("Looking into it", "Found something", "That is all")
"""The texts of an answer. Two calls follow the first text, and one follows the second."""
CALLS = (2, 1, 0)
WORDS = 12
WORD_SECONDS = 0.06
TOOL_SECONDS = 0.4
HEAD = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: %b\r\n\r\n"
BETWEEN_TEXTS = "\n\n"


def text_of_turn(turn: int) -> str:
    return "".join(words_of(turn))


def words_of(turn: int) -> list[str]:
    return [f"{TURNS[turn]} ", *(f"{turn}.{number} " for number in range(WORDS)), "."]


ANSWER = BETWEEN_TEXTS.join(text_of_turn(turn) for turn in range(len(TURNS)))
"""The answer of a run, however often it is taken over."""


@dataclass
class Services:
    """The model and its tools. `requests` holds the times at which a tool was called, by
    idempotency key."""

    url: str = ""
    requests: dict[str, list[float]] = field(default_factory=dict)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.strip().split("\r\n")
            headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in lines)}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            if first.split(" ")[1].startswith("/tools/"):
                await self.work(headers.get("idempotency-key", ""), writer)
            else:
                await speak(json.loads(body), writer)
            await writer.drain()
        writer.close()

    async def work(self, key: str, writer: asyncio.StreamWriter) -> None:
        self.requests.setdefault(key, []).append(time.monotonic())
        await asyncio.sleep(TOOL_SECONDS)
        writer.write(HEAD % b"application/json" + b'{"result": "done"}')


async def speak(asked: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
    # Capabilities show the model results of calls that it did not make.
    results = sum(
        str(message.get("tool_call_id", "")).startswith("call-") for message in asked["messages"]
    )
    turn = {0: 0, 2: 1, 3: 2}[results]
    writer.write(HEAD % b"text/event-stream")
    for word in words_of(turn):
        writer.write(event({"content": word}))
        await writer.drain()
        await asyncio.sleep(WORD_SECONDS)
    (tool,) = (one for one in asked["tools"] if one["function"]["name"].startswith("shop_"))
    for place in range(CALLS[turn]):
        function = {"name": tool["function"]["name"], "arguments": "{}"}
        id = f"call-{turn}-{place}"
        call = {"index": place, "id": id, "type": "function", "function": function}
        writer.write(event({"tool_calls": [call]}))
    writer.write(event({}, "tool_calls" if CALLS[turn] else "stop"))
    writer.write(b"data: [DONE]\n\n")


def event(delta: Mapping[str, Any], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    chunk = {"id": "k", "object": "chat.completion.chunk", "choices": [choice]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


@contextmanager
def serve_services() -> Iterator[Services]:
    """Serve in a thread with its own event loop, so that the load of other threads does not affect
    times."""
    services = Services()
    is_ready = threading.Event()
    stopping: list[Callable[[], object]] = []

    async def live() -> None:
        is_over = asyncio.Event()
        server = await asyncio.start_server(services.serve, "127.0.0.1", 0)
        services.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        stopping.append(partial(asyncio.get_running_loop().call_soon_threadsafe, is_over.set))
        is_ready.set()
        await is_over.wait()
        server.close()

    thread = threading.Thread(target=asyncio.run, args=(live(),), name="services")
    thread.start()
    is_ready.wait()
    try:
        yield services
    finally:
        stopping[0]()
        thread.join()


def manifest(url: str, kind: str) -> dict[str, Any]:
    """Return a manifest whose tool can be repeated (`plain`), cannot be repeated (`once`), or needs
    approval (`asking`)."""
    parameters = {"type": "object", "properties": {}, "required": []}
    function = {"name": kind, "description": kind, "parameters": parameters}
    tool: dict[str, Any] = {
        "rest_api_method_info": {"method_url": f"{url}/tools/{kind}", "method_type": "post"},
        "open_ai_tool": {"function": function},
        "is_repeatable": kind == "plain",
    }
    if kind == "asking":
        tool["approval"] = {"mode": "confirm", "seconds": None}
    shop = {
        "type": "rest-api",
        "name": "shop",
        "tools": [tool],
        "response_as_attachment": {"enabled": False},
    }
    return {
        "orchestrator": {"deployment": {"deployment_id": "slow"}},
        "contexts": [],
        "tool_sets": [shop],
    }
