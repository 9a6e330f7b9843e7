"""Everything that an application calls, on one loopback port, with scripted behavior.

A model's answer is a program, the JSON of the last question: `say` a text, `call` tools, `hold` a
connection, `break` it. Paths under /rest do the same for a REST tool. Held connections have names,
so a test can wait until one is held and until it is closed.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.servers.closing import close_server

HEAD = b"HTTP/1.1 %d Whatever\r\nconnection: close\r\ncontent-type: %b\r\n"
RESULT = "\N{RIGHTWARDS ARROW}"
"""The prefix of a tool's result in the answer."""
FLOOD_BYTES = 8 * 1024 * 1024


class World:
    """`held` are the waiting connections."""

    def __init__(self) -> None:
        self.url = ""
        self.held = 0
        self.open = 0
        self.arrived: dict[str, threading.Event] = defaultdict(threading.Event)
        self.left: dict[str, threading.Event] = defaultdict(threading.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.strip().split("\r\n")
            headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in lines)}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            await self.answer(first.split(" ")[1], body, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open -= 1
            writer.close()

    async def answer(
        self, target: str, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        parts = urlsplit(target)
        asked = {key: values[0] for key, values in parse_qs(parts.query).items()}
        match parts.path:
            case "/v1/chat/completions":
                await self.speak(json.loads(body), reader, writer)
            case "/rest/answer":
                text = json.dumps({"mark": asked["mark"]}).encode()
                writer.write(HEAD % (200, b"application/json"))
                writer.write(b"content-length: %d\r\n\r\n%b" % (len(text), text))
            case "/rest/error":
                writer.write(HEAD % (500, b"text/plain") + b"\r\nbroken")
            case "/rest/drop":
                writer.write(HEAD % (200, b"text/plain") + b"content-length: 1000\r\n\r\nhalf")
            case "/rest/flood":
                writer.write(HEAD % (200, b"text/plain") + b"\r\n")
                for _ in range(FLOOD_BYTES // 65_536):
                    writer.write(b"x" * 65_536)
                    await writer.drain()
            case path:
                await self.hold(asked.get("name", path.rpartition("/")[2]), reader)
        with suppress(ConnectionError):
            await writer.drain()

    async def hold(self, name: str, reader: asyncio.StreamReader) -> None:
        """Send nothing more until the other side disconnects."""
        self.held += 1
        self.arrived[name].set()
        try:
            with suppress(ConnectionError):
                await reader.read()
        finally:
            self.held -= 1
            self.left[name].set()

    async def speak(
        self, asked: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        program, results = program_of(asked["messages"])
        writer.write(HEAD % (200, b"text/event-stream") + b"\r\n")
        if program.get("call") and not results:
            calls = [
                {
                    "index": index,
                    "id": f"call-{index}-{program['mark']}",
                    "type": "function",
                    "function": {"name": name, "arguments": json.dumps(arguments)},
                }
                for index, (name, arguments) in enumerate(program["call"])
            ]
            writer.write(event({"tool_calls": calls}))
            writer.write(event({}, "tool_calls"))
        else:
            writer.write(event({"content": f"<{program['mark']}>"}))
            for result in results:
                writer.write(event({"content": program.get("before", " ") + result}))
            await writer.drain()
            if "hold" in program:
                await self.hold(program["hold"], reader)
            if "hold" in program or "break" in program:
                return
            writer.write(event({}, "stop"))
        writer.write(b"data: [DONE]\n\n")


def program_of(messages: list[dict[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """Return the last question's program, and the results of tools since."""
    last = max(i for i, message in enumerate(messages) if message["role"] == "user")
    results = [
        str(message["content"])
        for message in messages[last:]
        if message.get("tool_call_id", "").startswith("call-")
    ]
    return json.loads(messages[last]["content"]), results


def event(delta: dict[str, Any], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


@contextmanager
def serve_world() -> Iterator[World]:
    """Serve in a thread with its own event loop, so that the load of other threads does not delay
    it."""
    world = World()
    is_ready = threading.Event()
    stopping: list[Callable[[], object]] = []

    async def live() -> None:
        is_over = asyncio.Event()
        server = await asyncio.start_server(world.serve, "127.0.0.1", 0, backlog=1024)
        world.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        stopping.append(partial(asyncio.get_running_loop().call_soon_threadsafe, is_over.set))
        is_ready.set()
        await is_over.wait()
        await close_server(server)

    thread = threading.Thread(target=asyncio.run, args=(live(),), name="world")
    thread.start()
    is_ready.wait()
    try:
        yield world
    finally:
        stopping[0]()
        thread.join()
