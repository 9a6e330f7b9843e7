"""A model service for tests: a real server on the loopback with the test's responses."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, cast

from tests.servers.closing import close_server

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"
UNTIL_CLOSE = HEAD + b"\r\n"
LAST = b"0\r\n\r\n"
CLOSE = object()
"""A piece of an answer: close the connection."""
RESET = object()
"""A piece of an answer: reset the connection."""
ENDLESS = object()
"""A piece of an answer: repeat the previous piece until the client disconnects."""
HOLD = object()
"""A piece of an answer: send nothing more until the client disconnects."""


@dataclass
class Service:
    """`answers` are used one by one. Each is a list of pieces that are sent one by one."""

    answers: list[Sequence[Any]]
    port: int = 0
    requests: list[tuple[dict[str, str], dict[str, Any]]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    """The requests, in order."""
    connections: int = 0
    repeated: int = 0
    """The number of bytes sent for `ENDLESS`."""
    pause: float = 0.0
    """The seconds between two pieces of it."""
    left: asyncio.Event = field(default_factory=asyncio.Event)
    open: dict[asyncio.Task[Any], asyncio.StreamWriter] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = cast(asyncio.Task[Any], asyncio.current_task())
        self.open[task] = writer
        try:
            while self.answers and await self.read(reader):
                if not await self.answer(self.answers.pop(0), reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self.left.set()
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            del self.open[task]

    async def closed(self) -> None:
        """Wait until all connections are closed."""
        async with asyncio.timeout(60):
            while self.open:
                await asyncio.sleep(0)

    async def read(self, reader: asyncio.StreamReader) -> bool:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            self.left.set()
            return False
        first, *lines = head.strip().split("\r\n")
        headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in lines)
        }
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        headers["target"] = first.split(" ")[1]
        self.bodies.append(body)
        self.requests.append((headers, json.loads(body) if body else {}))
        return True

    async def answer(
        self, pieces: Sequence[Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        for number, piece in enumerate(pieces):
            if piece is CLOSE:
                return False
            if piece is RESET:
                reset(writer)
                return False
            if piece is ENDLESS:
                await self.repeat(pieces[number - 1], writer)
                return False
            if piece is HOLD:
                await reader.read()
                self.left.set()
                return False
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        return True

    async def repeat(self, piece: bytes, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                writer.write(piece)
                self.repeated += len(piece)
                await writer.drain()
                await asyncio.sleep(self.pause)
        finally:
            self.left.set()


def reset(writer: asyncio.StreamWriter) -> None:
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@asynccontextmanager
async def service(*answers: Sequence[Any]) -> AsyncIterator[Service]:
    """Serve within the block, and close the connections at its end."""
    running = Service(list(answers))
    server = await asyncio.start_server(running.serve, "127.0.0.1", 0)
    running.port = server.sockets[0].getsockname()[1]
    try:
        yield running
    finally:
        await close_server(server)
        for writer in running.open.values():
            writer.transport.abort()
        if running.open:
            await asyncio.wait(list(running.open))
        await server.wait_closed()


def frame(data: bytes) -> bytes:
    """Return a piece of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(**fields: Any) -> bytes:
    return b"data: " + json.dumps(fields, ensure_ascii=False).encode() + b"\n\n"


def text(content: str) -> bytes:
    return event(choices=[{"index": 0, "delta": {"content": content}}])


def finish(reason: str = "stop") -> bytes:
    return event(choices=[{"index": 0, "delta": {}, "finish_reason": reason}])


DONE = b"data: [DONE]\n\n"


def chunked(*events: bytes) -> list[Any]:
    """Return a well-formed answer, with each event in its own piece."""
    return [CHUNKED, *(frame(item) for item in events), LAST]


def answer(status: str, body: bytes, content_type: str = "application/json") -> list[Any]:
    head = (
        f"HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return [re.sub("\r?\n", "\r\n", head).encode() + body]
