"""The floor: a proxy that passes bytes on without parsing them, the fastest possible in Python."""

from __future__ import annotations

import argparse
import asyncio
import re
from typing import cast

import uvloop

LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
END = b"0\r\n\r\n"

idle: list[Upstream] = []


class Upstream(asyncio.Protocol):
    """A connection to the model, which is kept for the next request."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def ask(self, request: bytes, answer_to: asyncio.Transport) -> None:
        self.answer_to = answer_to
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self.answer_to.write(data)
        if data.endswith(END):
            idle.append(self)

    def connection_lost(self, error: Exception | None) -> None:
        if self in idle:
            idle.remove(self)


class Downstream(asyncio.Protocol):
    received = b""
    upstream_port = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.opening: set[asyncio.Task[None]] = set()

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, found, _ = self.received.partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        size = len(head) + 4 + (int(length[1]) if length else 0)
        if not found or len(self.received) < size:
            return
        request, self.received = self.received[:size], self.received[size:]
        if idle:
            idle.pop().ask(request, self.transport)
        else:
            task = asyncio.ensure_future(self.open(request))
            self.opening.add(task)
            task.add_done_callback(self.opening.discard)

    async def open(self, request: bytes) -> None:
        loop = asyncio.get_running_loop()
        _, upstream = await loop.create_connection(Upstream, "127.0.0.1", self.upstream_port)
        upstream.ask(request, self.transport)


async def main(port: int, upstream_port: int) -> None:
    Downstream.upstream_port = upstream_port
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Downstream, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--upstream-port", type=int, required=True)
    given = parser.parse_args()
    uvloop.run(main(given.port, given.upstream_port))
