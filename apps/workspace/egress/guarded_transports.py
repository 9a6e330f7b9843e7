"""Implements transports for httpx and httpx2 clients. They connect only to checked addresses.

The libraries' own transports do not accept a network backend, but the connection pools below them
do. Both libraries and their pools have the same interface.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore
import httpcore2
import httpx
import httpx2

from apps.errors import EgressRefused
from apps.workspace.egress.guard import Trust, find_addresses, tls_context
from apps.workspace.egress.headers import with_mark


class GuardedBackend:
    """Wraps the network backend of httpcore or httpcore2, and connects only to checked addresses.

    `failed` is the library's exception class for a connection that cannot be established.
    """

    def __init__(self, inner: Any, trust: Trust, failed: type[Exception]) -> None:
        self.inner = inner
        self.trust = trust
        self.failed = failed

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the libraries' interface
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> Any:
        try:
            async with asyncio.timeout(timeout):
                addresses = await find_addresses(self.trust, host, port)
        except OSError as error:
            raise self.failed(f"The host {host!r} could not be found.") from error
        failure: Exception | None = None
        for address in addresses:
            try:
                return await self.inner.connect_tcp(
                    address.host, address.port, timeout, local_address, socket_options
                )
            except self.failed as error:
                failure = error
        raise failure or self.failed(f"The host {host!r} has no address.")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - the libraries' interface
        socket_options: Any = None,
    ) -> Any:
        raise EgressRefused("Unix sockets are not supported.")

    async def sleep(self, seconds: float) -> None:
        await self.inner.sleep(seconds)


class HttpLibrary:
    """A client library (`http`) and its connection library (`core`). The errors in both have the
    same names.
    """

    http: Any
    core: Any

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Convert the connection library's errors to errors of the client library."""
        core = self.core
        try:
            yield
        except (
            core.TimeoutException,
            core.NetworkError,
            core.ProtocolError,
            core.ProxyError,
            core.UnsupportedProtocol,
        ) as error:
            raise getattr(self.http, type(error).__name__)(str(error)) from error


class GuardedTransport(HttpLibrary):
    body: Any

    def __init__(self, trust: Trust, limits: Any) -> None:
        inner = self.core.AnyIOBackend()
        self.pool = self.core.AsyncConnectionPool(
            ssl_context=tls_context(),
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=GuardedBackend(inner, trust, self.core.ConnectError),
        )

    async def handle_async_request(self, request: Any) -> Any:
        """Send the request. Raises the client library's errors, and `EgressRefused` if the host is
        not allowed.
        """
        url = request.url
        core_request = self.core.Request(
            method=request.method,
            url=self.core.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=with_mark(request.headers.raw, url.raw_host),
            content=request.stream,
            extensions=request.extensions,
        )
        with self.translated():
            answer = await self.pool.handle_async_request(core_request)
        return self.http.Response(
            answer.status,
            headers=answer.headers,
            stream=self.body(answer.stream),
            extensions=answer.extensions,
        )

    async def aclose(self) -> None:
        await self.pool.aclose()


class GuardedBody(HttpLibrary):
    def __init__(self, chunks: Any) -> None:
        self.chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with self.translated():
            async for chunk in self.chunks:
                yield chunk

    async def aclose(self) -> None:
        await self.chunks.aclose()


class HttpxBody(GuardedBody, httpx.AsyncByteStream):
    http, core = httpx, httpcore


class HttpxTransport(GuardedTransport, httpx.AsyncBaseTransport):
    http, core, body = httpx, httpcore, HttpxBody


class Httpx2Body(GuardedBody, httpx2.AsyncByteStream):
    http, core = httpx2, httpcore2


class Httpx2Transport(GuardedTransport, httpx2.AsyncBaseTransport):
    http, core, body = httpx2, httpcore2, Httpx2Body
