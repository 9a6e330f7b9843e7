"""A real HTTP service on the loopback, in the process of the test, that records its requests."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from apps.accounts.own_requests import OWN_REQUEST
from tests.servers.closing import close_server


@dataclass(frozen=True)
class Seen:
    """A request as it arrived, with lower-case header names. The header of requests to the site
    itself is removed, because the service is on a host of the site."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""

    def told(self, *names: str) -> dict[str, str]:
        """Return those of the headers that the request has."""
        return {name: self.headers[name] for name in names if name in self.headers}


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def json_reply(text: str, status: int = 200) -> Reply:
    return Reply(status, text.encode(), {"Content-Type": "application/json"})


Answer = Callable[[Seen], Awaitable[Reply]]


@dataclass
class Service:
    url: str
    seen: list[Seen] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client has closed its connection."""

    @property
    def targets(self) -> list[str]:
        return [f"{seen.method} {seen.target}" for seen in self.seen]


@asynccontextmanager
async def serving(*replies: Reply, answer: Answer | None = None) -> AsyncIterator[Service]:
    """Serve the replies in order and repeat the last one, or serve the result of `answer`."""

    async def reply_to(seen: Seen) -> Reply:
        if answer is not None:
            return await answer(seen)
        return replies[min(len(service.seen), len(replies)) - 1]

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            seen = await read_request(reader)
            service.seen.append(seen)
            service.asked.set()
            replying = asyncio.ensure_future(reply_to(seen))
            leaving = asyncio.ensure_future(reader.read(1))
            await asyncio.wait({replying, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if replying.done():
                writer.write(written(replying.result()))
                await writer.drain()
            else:
                service.left.set()
            for task in (replying, leaving):
                task.cancel()
        except (ConnectionError, asyncio.IncompleteReadError):
            service.left.set()
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    service = Service(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    try:
        yield service
    finally:
        await close_server(server)
        await server.wait_closed()


async def read_request(reader: asyncio.StreamReader) -> Seen:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("utf-8")
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    headers.pop(OWN_REQUEST, None)
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Seen(method, target, headers, body)


def written(reply: Reply) -> bytes:
    headers = {"Content-Length": str(len(reply.body)), "Connection": "close", **reply.headers}
    lines = [f"HTTP/1.1 {reply.status} Whatever", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + reply.body
