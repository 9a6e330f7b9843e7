"""The transport under SDK clients whose answers are streams of tokens, and its connection pool.

SDKs see httpx2's requests, responses, exceptions and time-outs. Only the way from the socket to
the reader is ours, because the library's costs more per token than all the rest of a run.
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
"""How long a connection stays idle: less than the limit of usual proxies."""
MOST_KEPT = 256
"""Idle connections to one origin; the number in use is bounded by the number of runs."""


@dataclass(frozen=True, slots=True)
class Origin:
    scheme: str
    host: str
    port: int


class Pool:
    """Idle connections by origin; the most recently used is taken first."""

    def __init__(self, trust: Trust) -> None:
        self.trust = trust
        self.idle: dict[Origin, deque[tuple[Connection, float]]] = {}
        self.sweeper: asyncio.TimerHandle | None = None

    def take(self, origin: Origin) -> Connection | None:
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
        await asyncio.sleep(0)  # let the aborted transports notify their protocols


async def dial(origin: Origin, address: Address) -> Connection:
    loop = asyncio.get_running_loop()
    secure = origin.scheme == "https"
    _, connection = await loop.create_connection(
        Connection,
        address.host,
        address.port,
        ssl=tls_context() if secure else None,
        server_hostname=origin.host if secure else None,  # the certificate is for the name
    )
    return connection


MOST_ERROR_BYTES = 1024 * 1024
"""Bytes read of an answer that is not 2xx."""
MOST_LEFT_BYTES = 64 * 1024
LEFT_SECONDS = 0.05
"""Wait for the last bytes of a body whose reader is done, to keep the connection."""
PORTS = {"http": 80, "https": 443}

Limits = Mapping[str, float | None]
"""Seconds for `connect`, `read` and `write`, as httpx2 names them; `total` for the exchange."""


class Body(httpx2.AsyncByteStream):
    """The body of one answer; iteration, for SDKs, yields at most `most` bytes."""

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
        """Finish reading: wait a moment for the last bytes, then keep the connection."""
        if self.connection is not None and not self.connection.is_complete:
            await self.connection.finish(MOST_LEFT_BYTES, LEFT_SECONDS)
        await self.aclose()

    async def aclose(self) -> None:
        """Keep the connection of a complete answer, close that of an incomplete one."""
        connection, self.connection = self.connection, None
        if connection is None:
            return
        if connection.is_complete:
            self.pool.give_back(self.origin, connection)
        else:
            connection.close()


@dataclass(frozen=True, slots=True)
class StreamedResponse:
    status: int
    headers: list[tuple[bytes, bytes]]
    body: Body

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def header(self, name: bytes) -> bytes:
        """The first header of that name (in lower case); b"" for none."""
        return next((value for key, value in self.headers if key.lower() == name), b"")

    def header_texts(self) -> dict[str, str]:
        """The headers by lower-case name; the last one wins."""
        return {k.lower().decode("latin-1"): v.decode("latin-1") for k, v in self.headers}


@dataclass(frozen=True, slots=True)
class Template:
    """The unchanging part of a request that is sent many times with different bodies.

    `head` lacks the lines of the content length and of the headers given to `request`.
    """

    origin: Origin
    head: bytes = field(repr=False)

    @classmethod
    def of(cls, request: httpx2.Request) -> Template:
        """Raises `httpx2.LocalProtocolError`, `httpx2.UnsupportedProtocol`."""
        del request.headers["content-length"]
        return cls(origin_of(request.url), request_head(request)[:-2])

    def request(self, headers: Mapping[str, str], content: bytes) -> bytes:
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
        data = request_head(request) + await request.aread()
        answer = await self.answer(origin, data, request.extensions.get("timeout") or {})
        return httpx2.Response(answer.status, headers=answer.headers, stream=answer.body)

    async def post(
        self, template: Template, headers: Mapping[str, str], content: bytes, limits: Limits
    ) -> StreamedResponse:
        """As `handle_async_request`, without building the library's request and response."""
        return await self.answer(template.origin, template.request(headers, content), limits)

    async def answer(self, origin: Origin, data: bytes, limits: Limits) -> StreamedResponse:
        connection, head = await self.exchange(origin, data, limits)
        most = MOST_ERROR_BYTES if head.status >= 300 else 1 << 62
        body = Body(self.pool, origin, connection, most)
        return StreamedResponse(head.status, await without_packed_body(head, body), body)

    async def exchange(
        self, origin: Origin, data: bytes, limits: Limits
    ) -> tuple[Connection, Head]:
        # No second attempt here: a kept connection that breaks may have delivered the request, and
        # only the caller knows whether it may be sent twice.
        connection = self.pool.take(origin)
        if connection is None:
            connection = await self.connect(origin, limits.get("connect") or 5.0)
        return connection, await send_and_read_head(connection, data, limits)

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


async def send_and_read_head(connection: Connection, data: bytes, limits: Limits) -> Head:
    """Raises httpx2's errors, after closing the connection."""
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


def request_head(request: httpx2.Request) -> bytes:
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
    """The headers to hand on. We ask for uncompressed bodies and do not decompress.

    A compressed body of a failure is dropped, because its status is enough. Raises
    `httpx2.DecodingError` for a compressed answer below 300.
    """
    packed = [pair for pair in head.headers if pair[0].lower() == b"content-encoding"]
    if all(value.strip().lower() in {b"", b"identity"} for _, value in packed):
        return head.headers
    await body.aclose()
    if head.status < 300:
        raise httpx2.DecodingError("The service sent a packed answer that was not asked for.")
    return [pair for pair in head.headers if pair not in packed]
