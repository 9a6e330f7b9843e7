"""Transports for clients of httpx and httpx2 that connect to judged addresses only.

The libraries' own transports do not let a network backend be chosen; the connection pools below
them do. Both libraries share one interface, and so do their pools.
"""

from __future__ import annotations

import functools
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore
import httpcore2
import httpx
import httpx2

from apps.workspace.egress.guard import GuardedBackend, Trust


@functools.cache
def tls_context() -> ssl.SSLContext:
    """The operating system's certificates, or those that SSL_CERT_FILE names."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


class HttpLibrary:
    """`http` is the client's library, `core` its connection library; their errors share names."""

    http: Any
    core: Any

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Raises the client's errors instead of those of the connections."""
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
        """`limits` are the client library's `Limits`."""
        inner = self.core.AnyIOBackend()
        self.pool = self.core.AsyncConnectionPool(
            ssl_context=tls_context(),
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=GuardedBackend(inner, trust, self.core.ConnectError),
        )

    async def handle_async_request(self, request: Any) -> Any:
        """Raises the client library's errors and `EgressRefused`."""
        url = request.url
        asked = self.core.Request(
            method=request.method,
            url=self.core.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with self.translated():
            answer = await self.pool.handle_async_request(asked)
        return self.http.Response(
            answer.status,
            headers=answer.headers,
            stream=self.body(answer.stream),
            extensions=answer.extensions,
        )

    async def aclose(self) -> None:
        await self.pool.aclose()


class GuardedBody(HttpLibrary):
    def __init__(self, pieces: Any) -> None:
        self.pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with self.translated():
            async for piece in self.pieces:
                yield piece

    async def aclose(self) -> None:
        await self.pieces.aclose()


class HttpxBody(GuardedBody, httpx.AsyncByteStream):
    http, core = httpx, httpcore


class HttpxTransport(GuardedTransport, httpx.AsyncBaseTransport):
    http, core, body = httpx, httpcore, HttpxBody


class Httpx2Body(GuardedBody, httpx2.AsyncByteStream):
    http, core = httpx2, httpcore2


class Httpx2Transport(GuardedTransport, httpx2.AsyncBaseTransport):
    http, core, body = httpx2, httpcore2, Httpx2Body
