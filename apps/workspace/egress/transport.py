"""Implements the HTTP transport for SDK clients whose responses are streams of tokens.

SDKs use httpx2's requests, responses, exceptions and timeouts. Only the code between the socket and
the reader is our own, because the library's code takes more time per token than the rest of a run.
Idle connections are kept in a pool for each transport.
"""

import asyncio
import math
import ssl
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Self

import httpx2
import msgspec

from apps.integers import read_integer
from apps.workspace.egress.connection import Head, HttpConnection
from apps.workspace.egress.guard import HostAddress, Trust, find_addresses, tls_context
from apps.workspace.egress.headers import with_mark

MOST_LEFT_BYTES = 64 * 1024
LEFT_SECONDS = 0.05
"""When a reader has finished, the client waits this many seconds for the last bytes of the body, so
that the connection can be reused.
"""
REFUSAL_SECONDS = 10.0
"""The timeout for the body of an error response, in seconds."""
PORTS = {"http": 80, "https": 443}
IDLE_SECONDS = 15.0
"""The idle time in seconds after which the pool closes a connection. It is less than the idle
timeout of common proxies.
"""
MOST_IDLE = 256
"""The maximum number of idle connections per origin in the pool. Connections in use are limited
only by the number of runs.
"""

Limits = Mapping[str, float | None]
"""The timeouts in seconds: httpx2's `connect`, `read` and `write`, and `total` for the whole
exchange.
"""


class ResponseTooLarge(Exception):
    """Raised if the body is larger than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The response is larger than {limit} bytes.")


@dataclass(frozen=True, slots=True)
class Origin:
    scheme: str
    host: str
    port: int


class ConnectionPool:
    """Idle connections by origin. The most recently used connection is reused first."""

    def __init__(self, trust: Trust) -> None:
        self.trust = trust
        self.idle: dict[Origin, deque[tuple[HttpConnection, float]]] = {}
        self.sweeper: asyncio.TimerHandle | None = None

    def take(self, origin: Origin) -> HttpConnection | None:
        idle = self.idle.get(origin)
        oldest = asyncio.get_running_loop().time() - IDLE_SECONDS
        while idle:
            connection, since = idle.pop()
            if since >= oldest and connection.is_reusable() and not connection.is_stale():
                return connection
            connection.close()
        return None

    async def connect(self, origin: Origin, seconds: float) -> HttpConnection:
        """Open a connection to the origin. Raises httpx2's errors if that fails, and
        `EgressRefused` if the host is not allowed.
        """
        try:
            async with asyncio.timeout(seconds):
                addresses = await find_addresses(self.trust, origin.host, origin.port)
                failure = OSError(f"The host {origin.host!r} has no address.")
                for address in addresses:
                    try:
                        return await dial(origin, address)
                    except OSError as error:
                        failure = error
                raise failure
        except TimeoutError as error:
            raise httpx2.ConnectTimeout(f"No connection within {seconds:g} seconds.") from error
        except ssl.SSLError as error:
            raise httpx2.ConnectError("The TLS connection failed.") from error
        except OSError as error:
            raise httpx2.ConnectError("The service cannot be reached.") from error

    def release(self, origin: Origin, connection: HttpConnection) -> None:
        idle = self.idle.setdefault(origin, deque())
        if not connection.is_reusable() or len(idle) >= MOST_IDLE:
            connection.close()
            return
        connection.reset()
        loop = asyncio.get_running_loop()
        idle.append((connection, loop.time()))
        if self.sweeper is None:
            self.sweeper = loop.call_later(IDLE_SECONDS, self.sweep)

    def sweep(self) -> None:
        loop = asyncio.get_running_loop()
        oldest = loop.time() - IDLE_SECONDS
        for origin, idle in list(self.idle.items()):
            while idle and (idle[0][1] < oldest or not idle[0][0].is_reusable()):
                idle.popleft()[0].close()
            if not idle:
                del self.idle[origin]
        self.sweeper = loop.call_later(IDLE_SECONDS, self.sweep) if self.idle else None

    async def aclose(self) -> None:
        if self.sweeper is not None:
            self.sweeper.cancel()
            self.sweeper = None
        for idle in self.idle.values():
            for connection, _ in idle:
                connection.close()
        self.idle.clear()
        await asyncio.sleep(0)  # This lets the aborted transports notify their protocols.


async def dial(origin: Origin, address: HostAddress) -> HttpConnection:
    loop = asyncio.get_running_loop()
    secure = origin.scheme == "https"
    _, connection = await loop.create_connection(
        HttpConnection,
        address.host,
        address.port,
        ssl=tls_context() if secure else None,
        server_hostname=origin.host if secure else None,  # The certificate is for the host name.
    )
    return connection


class Body(httpx2.AsyncByteStream):
    """The body of one response, which can be read only once."""

    def __init__(self, pool: ConnectionPool, origin: Origin, connection: HttpConnection) -> None:
        self.pool = pool
        self.origin = origin
        self.connection: HttpConnection | None = connection

    def read_chunk(self) -> Coroutine[Any, Any, bytes]:
        """Return the bytes of one or more network reads, or b"" at the end of the body. Raises
        httpx2's errors.
        """
        return no_bytes() if self.connection is None else self.connection.read_chunk()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while chunk := await self.read_chunk():
            yield chunk

    async def chunks(self, limit: int) -> AsyncIterator[bytes]:
        """Yield the body in chunks. Raises httpx2's errors, and `ResponseTooLarge` if the body is
        larger than `limit` bytes.
        """
        size = 0
        while chunk := await self.read_chunk():
            size += len(chunk)
            if size > limit:
                raise ResponseTooLarge(limit)
            yield chunk

    async def read(self, limit: int) -> bytes:
        """Return the whole body. Raises the same errors as `chunks`."""
        return b"".join([chunk async for chunk in self.chunks(limit)])

    async def read_refusal(self, limit: int) -> bytes:
        """Return the whole body of an error response, or b"" if it cannot be read. An error can be
        reported with the status alone.
        """
        try:
            async with asyncio.timeout(REFUSAL_SECONDS), aclosing(self):
                return await self.read(limit)
        except (httpx2.HTTPError, ResponseTooLarge, TimeoutError):
            return b""

    def end_within(self, seconds: float) -> None:
        """Limit the remaining time for reading the response to `seconds`."""
        if self.connection is not None:
            self.connection.end_within(seconds)

    async def end(self) -> None:
        """Finish reading: wait a moment for the last bytes, then return the connection to the
        pool.
        """
        if self.connection is not None and not self.connection.is_complete:
            await self.connection.finish(MOST_LEFT_BYTES, LEFT_SECONDS)
        await self.aclose()

    async def aclose(self) -> None:
        """Close the body. The connection returns to the pool if the response is complete, and is
        closed if it is not.
        """
        connection, self.connection = self.connection, None
        if connection is None:
            return
        if connection.is_complete:
            self.pool.release(self.origin, connection)
        else:
            connection.close()


async def no_bytes() -> bytes:
    return b""


class StreamedResponse(msgspec.Struct, frozen=True):
    status: int
    headers: list[tuple[bytes, bytes]]
    body: Body

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def header(self, name: bytes) -> bytes:
        """Return the first header with this lower-case name, or b"" if there is none."""
        return next((value for key, value in self.headers if key.lower() == name), b"")

    async def read(self, limit: int) -> bytes:
        """Return the whole body. If its declared length exceeds `limit` bytes, the body is not read
        at all. Raises the same errors as `Body.read`.
        """
        announced = self.header(b"content-length").decode("latin-1")
        if (read_integer(announced) or 0) > limit:
            raise ResponseTooLarge(limit)
        return await self.body.read(limit)

    def header_texts(self) -> dict[str, str]:
        """Return the headers by lower-case name. If a header occurs several times, the last value
        is used.
        """
        return {k.lower().decode("latin-1"): v.decode("latin-1") for k, v in self.headers}


@dataclass(frozen=True, slots=True)
class HttpEndpoint:
    """A URL, and the headers that are sent with every request to it."""

    origin: Origin
    path: bytes
    headers: bytes = field(repr=False)

    @classmethod
    def of(cls, url: httpx2.URL, headers: Sequence[tuple[bytes, bytes]]) -> Self:
        """Return the endpoint for a URL. Raises `httpx2.LocalProtocolError` for a header with a
        line break, and `httpx2.UnsupportedProtocol` for a scheme other than http and https.
        """
        if url.scheme not in PORTS:
            raise httpx2.UnsupportedProtocol(f"Unsupported scheme {url.scheme}; use http or https")
        host, port = url.raw_host.decode("ascii"), url.port or PORTS[url.scheme]
        lines = header_lines(with_mark(headers, url.raw_host))
        return cls(Origin(url.scheme, host, port), url.raw_path, lines)

    def request(
        self, method: str, target: str, headers: Mapping[str, str], content: bytes
    ) -> bytes:
        """Return the bytes of a request. `target` is appended to the endpoint's path. The `headers`
        are sent in Latin-1, as received.

        Raises `httpx2.LocalProtocolError` if a header contains a line break.
        """
        named = [(k.encode("latin-1"), v.encode("latin-1", "replace")) for k, v in headers.items()]
        more = header_lines(named)
        if content:
            more += b"Content-Length: %d\r\n" % len(content)
        path = self.path.rstrip(b"/") + target.encode("ascii") if target else self.path
        line = b"%b %b HTTP/1.1\r\n" % (method.encode("ascii"), path)
        return b"".join((line, self.headers, more, b"\r\n", content))


def header_lines(headers: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Return the lines of the headers. Raises `httpx2.LocalProtocolError` if a header contains a
    line break.
    """
    lines = b"".join([b"%b: %b\r\n" % pair for pair in headers])
    if lines.count(b"\n") != len(headers) or lines.count(b"\r") != len(headers):
        raise httpx2.LocalProtocolError("A header contains a line break; check the API key.")
    return lines


class StreamTransport(httpx2.AsyncBaseTransport):
    def __init__(self, trust: Trust) -> None:
        self.pool = ConnectionPool(trust)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request for an SDK. Raises httpx2's errors if that fails, and `EgressRefused` if
        the host is not allowed.
        """
        endpoint = HttpEndpoint.of(request.url, request.headers.raw)
        data = endpoint.request(request.method, "", {}, b"") + await request.aread()
        limits = request.extensions.get("timeout") or {}
        answer = await self.answer(endpoint.origin, data, limits)
        return httpx2.Response(answer.status, headers=answer.headers, stream=answer.body)

    async def send(
        self,
        endpoint: HttpEndpoint,
        content: bytes,
        limits: Limits,
        headers: Mapping[str, str],
        method: str = "POST",
        target: str = "",
    ) -> StreamedResponse:
        """Send a request, and return its response. This is faster than `handle_async_request`,
        because it does not build the library's objects.
        """
        data = endpoint.request(method, target, headers, content)
        return await self.answer(endpoint.origin, data, limits)

    async def answer(self, origin: Origin, data: bytes, limits: Limits) -> StreamedResponse:
        # The request is not retried: a pooled connection that breaks may have delivered it, and
        # only the caller knows whether it can be sent twice.
        connection = self.pool.take(origin)
        if connection is None:
            connection = await self.pool.connect(origin, limits.get("connect") or 5.0)
        head = await send_and_read_head(connection, data, limits)
        body = Body(self.pool, origin, connection)
        return StreamedResponse(head.status, await without_packed_body(head, body), body)

    async def aclose(self) -> None:
        await self.pool.aclose()


async def send_and_read_head(connection: HttpConnection, data: bytes, limits: Limits) -> Head:
    """Send a request and read the head of its response. If this fails, close the connection and
    raise httpx2's error.
    """
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


async def without_packed_body(head: Head, body: Body) -> list[tuple[bytes, bytes]]:
    """Return the headers without `Content-Encoding`. Requests ask for uncompressed bodies.

    The compressed body of an error response is dropped, because its status is sufficient. Raises
    `httpx2.DecodingError` if a successful response is compressed.
    """
    packed = [pair for pair in head.headers if pair[0].lower() == b"content-encoding"]
    if all(value.strip().lower() in {b"", b"identity"} for _, value in packed):
        return head.headers
    await body.aclose()
    if head.status < 300:
        raise httpx2.DecodingError("The service sent a compressed response that was not requested.")
    return [pair for pair in head.headers if pair not in packed]
