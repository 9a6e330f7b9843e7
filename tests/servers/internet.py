"""A small Internet for tests: names, public addresses, and real servers on the loopback behind
them.

Only two things are simulated: the addresses of names, and the routing of a connection for a public
address to a server of the test. Everything else is real.
"""

from __future__ import annotations

import asyncio
import errno
import gzip
import socket
from asyncio.selector_events import BaseSelectorEventLoop
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from tests.servers.closing import close_server

PUBLIC = "93.184.215.14"
OTHER = "93.184.215.15"
SECRET = b"what only this machine may know"

NAMED = ("example", "example.", "internal", "internal.")
"""The endings of host names. Everything else is an IP address in some spelling, or this machine."""

Page = Callable[[asyncio.StreamWriter], Awaitable[None]]

real_getaddrinfo = BaseSelectorEventLoop.getaddrinfo
real_connect = BaseSelectorEventLoop.sock_connect


def ok(body: bytes = b"", **headers: str) -> Page:
    return answer(200, body, **headers)


def answer(status: int, body: bytes = b"", **headers: str) -> Page:
    """Return a response. Header names use underscores; `content_length=""` omits the length."""
    told = {"content_length": str(len(body)), **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in told.items() if value]
    head = "\r\n".join([f"HTTP/1.1 {status} Whatever", "connection: close", *lines, "", ""])

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(head.encode() + body)
        await writer.drain()

    return write


def moved(target: str, status: int = 302) -> Page:
    return answer(status, location=target)


def packed(body: bytes) -> Page:
    return ok(gzip.compress(body, mtime=0), content_encoding="gzip")


async def drip(writer: asyncio.StreamWriter) -> None:
    """Send a byte now and then, forever."""
    writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
    while True:
        writer.write(b".")
        await writer.drain()
        await asyncio.sleep(0.02)


async def silence(writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def flood(writer: asyncio.StreamWriter) -> None:
    """Send bytes forever, without announcing their number."""
    writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
    while True:
        writer.write(b"x" * 65_536)
        await writer.drain()


async def breaks_off(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nonly this")
    await writer.drain()


@dataclass
class Internet:
    """`names` are hosts with their addresses, one answer per lookup. `pages` are the contents of
    every public host, by path. `asked` are the requests that they received, `dialled` the addresses
    that were connected to, and `secret` a server of this machine."""

    names: dict[str, list[list[str]]] = field(default_factory=dict)
    pages: dict[str, Page] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    looked_up: list[str] = field(default_factory=list)
    dialled: list[tuple[str, int]] = field(default_factory=list)
    secret: int = 0
    betrayed: bool = False
    ports: Mapping[str, int] = field(default_factory=dict)
    serving: set[asyncio.Task[Any]] = field(default_factory=set)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    def name(self, host: str, *answers: Sequence[str]) -> None:
        self.names[host] = [list(one) for one in answers]

    async def find(self, loop: Any, host: Any, port: Any, **rest: Any) -> Any:
        self.looked_up.append(str(host))
        answers = self.names.get(str(host).rstrip("."))
        if answers is None:
            if str(host).endswith(NAMED):
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            return await real_getaddrinfo(loop, host, port, **rest)
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [
            (
                socket.AF_INET6 if ":" in each else socket.AF_INET,
                socket.SOCK_STREAM,
                6,
                "",
                (each, port),
            )
            for each in found
        ]

    async def connect(self, loop: Any, sock: socket.socket, address: Any) -> None:
        host, port = address[:2]
        self.dialled.append((host, port))
        if host in self.ports:
            address = ("127.0.0.1", self.ports[host])
        elif not host.startswith("127."):
            raise OSError(errno.ENETUNREACH, "There is no such network in a test")
        await real_connect(loop, sock, address)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.serving.add(task)
        task.add_done_callback(self.serving.discard)
        self.writers.append(writer)
        try:
            request = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.asked.append(request)
            path = request.split(" ")[1].partition("?")[0]
            await self.pages.get(path, answer(404, b"There is no such page."))(writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def close(self, *servers: asyncio.Server) -> None:
        for server in servers:
            await close_server(server)
        for task in list(self.serving):
            task.cancel()
        await asyncio.gather(*self.serving, return_exceptions=True)
        for writer in self.writers:
            writer.transport.abort()
        for server in servers:
            await server.wait_closed()

    async def betray(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.betrayed = True
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + SECRET)
        writer.close()


@asynccontextmanager
async def internet(pages: Mapping[str, Page] | None = None) -> AsyncIterator[Internet]:
    """Return an Internet with one public host, `files.example`, that serves the pages."""
    net = Internet(pages=dict(pages or {}))
    net.name("files.example", [PUBLIC])
    net.name("other.example", [OTHER])
    server = await asyncio.start_server(net.serve, "127.0.0.1", 0)
    secret = await asyncio.start_server(net.betray, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    net.secret = secret.sockets[0].getsockname()[1]
    net.ports = {PUBLIC: port, OTHER: port}

    async def find(loop: Any, host: Any, port: Any, **rest: Any) -> Any:
        return await net.find(loop, host, port, **rest)

    async def connect(loop: Any, sock: socket.socket, address: Any) -> None:
        await net.connect(loop, sock, address)

    with (
        patch.object(BaseSelectorEventLoop, "getaddrinfo", find),
        patch.object(BaseSelectorEventLoop, "sock_connect", connect),
    ):
        try:
            yield net
        finally:
            await net.close(server, secret)
