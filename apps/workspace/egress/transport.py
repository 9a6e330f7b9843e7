"""The transport under SDK clients whose answers are streams of tokens.

Everything that an SDK expects of httpx2 is kept (requests, responses, exceptions, time-outs);
only the way from the socket to the reader is ours, because the library's costs more per token
than all the rest of a run.
"""

from __future__ import annotations

import asyncio
import math
import ssl
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field

import httpx2

from apps.workspace.egress.connection import Connection, Head
from apps.workspace.egress.guard import Address, Trust, find_addresses
from apps.workspace.egress.guarded_transports import tls_context

KEPT_SECONDS = 15.0
"""Below the idle limit of usual proxies; a connection that they closed earlier is noticed."""
MOST_KEPT = 256
"""Idle connections to one origin; how many are in use is bounded by the runs that ask."""


@dataclass(frozen=True, slots=True)
class Origin:
    scheme: str
    host: str
    port: int


class Pool:
    """Idle connections by origin, the most recently used taken first."""

    def __init__(self, trust: Trust) -> None:
        self.trust = trust
        self.idle: dict[Origin, deque[tuple[Connection, float]]] = {}
        self.sweeper: asyncio.TimerHandle | None = None

    def take(self, origin: Origin) -> Connection | None:
        """An idle connection that is still open, if there is one."""
        kept = self.idle.get(origin)
        oldest = asyncio.get_running_loop().time() - KEPT_SECONDS
        while kept:
            connection, since = kept.pop()
            if since >= oldest and connection.is_reusable() and not connection.has_news():
                return connection
            connection.close()
        return None

    async def connect(self, origin: Origin, seconds: float) -> Connection:
        """Raises `EgressRefused`, TimeoutError, and OSError (also for the name and for TLS)."""
        async with asyncio.timeout(seconds):
            addresses = await find_addresses(self.trust, origin.host, origin.port)
            failure: OSError | None = None
            for address in addresses:
                try:
                    return await dial(origin, address)
                except OSError as error:
                    failure = error
        raise failure or OSError(f"The host {origin.host!r} has no address.")

    def give_back(self, origin: Origin, connection: Connection) -> None:
        """Keep a connection whose exchange is complete."""
        kept = self.idle.setdefault(origin, deque())
        if not connection.is_reusable() or len(kept) >= MOST_KEPT:
            connection.close()
            return
        connection.rest()
        loop = asyncio.get_running_loop()
        kept.append((connection, loop.time()))
        if self.sweeper is None:
            self.sweeper = loop.call_later(KEPT_SECONDS, self.sweep)

    def sweep(self) -> None:
        loop = asyncio.get_running_loop()
        oldest = loop.time() - KEPT_SECONDS
        for origin, kept in list(self.idle.items()):
            while kept and (kept[0][1] < oldest or not kept[0][0].is_reusable()):
                kept.popleft()[0].close()
            if not kept:
                del self.idle[origin]
        self.sweeper = loop.call_later(KEPT_SECONDS, self.sweep) if self.idle else None

    async def aclose(self) -> None:
        if self.sweeper is not None:
            self.sweeper.cancel()
            self.sweeper = None
        for kept in self.idle.values():
            for connection, _ in kept:
                connection.close()
        self.idle.clear()
        await asyncio.sleep(0)  # lets the aborted transports tell their protocols


async def dial(origin: Origin, address: Address) -> Connection:
    """The address is dialled; the name is what the certificate has to be for."""
    loop = asyncio.get_running_loop()
    secure = origin.scheme == "https"
    _, connection = await loop.create_connection(
        Connection,
        address.host,
        address.port,
        ssl=tls_context() if secure else None,
        server_hostname=origin.host if secure else None,
    )
    return connection


MOST_ERROR_BYTES = 1024 * 1024
"""Of an answer that is not 2xx; the rest is not read."""
MOST_LEFT_BYTES = 64 * 1024
LEFT_SECONDS = 0.05
"""How long the last bytes of a body may be on their way once the answer itself is complete."""
PORTS = {"http": 80, "https": 443}

Limits = Mapping[str, float | None]
"""Seconds for `connect`, `read` and `write`, as httpx2 names them; `total` for the exchange."""


class Body(httpx2.AsyncByteStream):
    """The body of one answer. `read_piece` is the short way, iteration the library's."""

    def __init__(self, pool: Pool, origin: Origin, connection: Connection, most: int) -> None:
        self.pool = pool
        self.origin = origin
        self.connection: Connection | None = connection
        self.most = most

    async def read_piece(self) -> bytes:
        """The bytes of one or more network reads; b"" at the end. Raises httpx2's errors."""
        return b"" if self.connection is None else await self.connection.read_piece()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        while size < self.most and (piece := await self.read_piece()):
            size += len(piece)
            yield piece

    def end_within(self, seconds: float) -> None:
        """Limit the wait for the rest of the answer."""
        if self.connection is not None:
            self.connection.end_within(seconds)

    async def end(self) -> None:
        """The reader has all it wants: wait a moment for the last bytes, to keep the connection."""
        if self.connection is not None and not self.connection.is_complete:
            await self.connection.finish(MOST_LEFT_BYTES, LEFT_SECONDS)
        await self.aclose()

    async def aclose(self) -> None:
        """Let go at once: an answer that is still coming is cut off."""
        connection, self.connection = self.connection, None
        if connection is None:
            return
        if connection.is_complete:
            self.pool.give_back(self.origin, connection)
        else:
            connection.close()


@dataclass(frozen=True, slots=True)
class StreamedResponse:
    """The head of an answer, and what is still to come of it."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: Body

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def header(self, name: bytes) -> bytes:
        """The first of that name (in lower case), or b""."""
        return next((value for key, value in self.headers if key.lower() == name), b"")

    def texts(self) -> dict[str, str]:
        """The headers by name in lower case; the last of several of one name."""
        return {k.lower().decode("latin-1"): v.decode("latin-1") for k, v in self.headers}


@dataclass(frozen=True, slots=True)
class Template:
    """A request that is sent many times, each time with another body.

    `head` has all lines but those of the length and of what changes.
    """

    origin: Origin
    head: bytes = field(repr=False)

    @classmethod
    def of(cls, request: httpx2.Request) -> Template:
        """Raises `httpx2.LocalProtocolError`, `httpx2.UnsupportedProtocol`."""
        del request.headers["content-length"]
        return cls(origin_of(request.url), write_head(request)[:-2])

    def written(self, headers: Mapping[str, str], content: bytes) -> bytes:
        """Raises `httpx2.LocalProtocolError`."""
        more = b"".join(b"%b: %b\r\n" % (k.encode(), v.encode()) for k, v in headers.items())
        if more.count(b"\n") != len(headers) or more.count(b"\r") != len(headers):
            raise httpx2.LocalProtocolError("A header contains a line break.")
        return b"%b%bContent-Length: %d\r\n\r\n%b" % (self.head, more, len(content), content)


class StreamTransport(httpx2.AsyncBaseTransport):
    def __init__(self, trust: Trust) -> None:
        self.pool = Pool(trust)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Raises httpx2's errors and `EgressRefused`."""
        origin = origin_of(request.url)
        data = write_head(request) + await request.aread()
        answer = await self.answer(origin, data, request.extensions.get("timeout") or {})
        return httpx2.Response(answer.status, headers=answer.headers, stream=answer.body)

    async def post(
        self, template: Template, headers: Mapping[str, str], content: bytes, limits: Limits
    ) -> StreamedResponse:
        """The short way: no request and no response of the library. Raises as the long one."""
        return await self.answer(template.origin, template.written(headers, content), limits)

    async def answer(self, origin: Origin, data: bytes, limits: Limits) -> StreamedResponse:
        connection, head = await self.exchange(origin, data, limits)
        most = MOST_ERROR_BYTES if head.status >= 300 else 1 << 62
        body = Body(self.pool, origin, connection, most)
        return StreamedResponse(head.status, await without_packed_body(head, body), body)

    async def exchange(
        self, origin: Origin, data: bytes, limits: Limits
    ) -> tuple[Connection, Head]:
        """Send the request once, wait for the headers.

        A kept connection that breaks may have delivered the request, so it is not sent again here:
        only whoever asks knows what may happen twice.
        """
        connection = self.pool.take(origin)
        if connection is None:
            connection = await self.connect(origin, limits.get("connect") or 5.0)
        return connection, await talk(connection, data, limits)

    async def connect(self, origin: Origin, seconds: float) -> Connection:
        try:
            return await self.pool.connect(origin, seconds)
        except TimeoutError as error:
            raise httpx2.ConnectTimeout(f"No connection within {seconds:g} seconds.") from error
        except ssl.SSLError as error:
            raise httpx2.ConnectError("The secure connection could not be set up.") from error
        except OSError as error:
            raise httpx2.ConnectError("The service cannot be reached.") from error

    async def aclose(self) -> None:
        await self.pool.aclose()


async def talk(connection: Connection, data: bytes, limits: Limits) -> Head:
    """Raises httpx2's errors; the connection is closed when it cannot be read from."""
    ready = False
    try:
        await connection.send(
            data,
            idle_seconds=limits.get("read") or 300.0,
            write_seconds=limits.get("write") or 30.0,
            total_seconds=limits.get("total") or math.inf,
        )
        head = await connection.read_head()
        ready = True
    finally:
        if not ready:
            connection.close()
    return head


def origin_of(url: httpx2.URL) -> Origin:
    """Raises `httpx2.UnsupportedProtocol`."""
    if url.scheme not in PORTS:
        raise httpx2.UnsupportedProtocol(f"An address begins with http or https: {url.scheme}")
    return Origin(url.scheme, url.raw_host.decode("ascii"), url.port or PORTS[url.scheme])


def write_head(request: httpx2.Request) -> bytes:
    """Raises `httpx2.LocalProtocolError`."""
    return join_head(request.method, request.url.raw_path, request.headers.raw)


def join_head(method: str, target: bytes, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Raises `httpx2.LocalProtocolError` when a header would run into the next line."""
    lines = [b"%b %b HTTP/1.1" % (method.encode("ascii"), target)]
    lines += [b"%b: %b" % pair for pair in headers]
    head = b"\r\n".join(lines)
    if head.count(b"\n") != len(lines) - 1 or head.count(b"\r") != len(lines) - 1:
        raise httpx2.LocalProtocolError("A header contains a line break; check the API key.")
    return head + b"\r\n\r\n"


async def without_packed_body(head: Head, body: Body) -> list[tuple[bytes, bytes]]:
    """The headers to hand on. We ask for plain bodies; a packed one is not unpacked.

    Of a failure the status still counts, so only its body is dropped. Raises
    `httpx2.DecodingError` for an answer that was to be read.
    """
    packed = [pair for pair in head.headers if pair[0].lower() == b"content-encoding"]
    if all(value.strip().lower() in {b"", b"identity"} for _, value in packed):
        return head.headers
    await body.aclose()
    if head.status < 300:
        raise httpx2.DecodingError("The service sent a packed answer that was not asked for.")
    return [pair for pair in head.headers if pair not in packed]
