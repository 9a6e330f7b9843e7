"""The HTTP clients that SDKs are built on (httpx2), under the same rules as our own."""

from __future__ import annotations

from typing import Any

import httpx2
from httpx2 import (
    URL,
    AsyncClient,
    ConnectError,
    ConnectTimeout,
    DecodingError,
    HTTPError,
    InvalidURL,
    NetworkError,
    RemoteProtocolError,
    Request,
    Response,
    Timeout,
    TimeoutException,
    UnsupportedProtocol,
)

from apps.workspace.egress.clients import CONNECT_SECONDS, READ_SECONDS, NoCookies
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.transport import Body, StreamTransport

__all__ = [
    "URL",
    "AsyncClient",
    "Body",
    "ConnectError",
    "ConnectTimeout",
    "DecodingError",
    "HTTPError",
    "InvalidURL",
    "NetworkError",
    "RemoteProtocolError",
    "Request",
    "Response",
    "StreamClient",
    "Timeout",
    "TimeoutException",
    "UnsupportedProtocol",
    "make_sdk_client",
    "make_stream_client",
]


class StreamClient(httpx2.AsyncClient):
    """Sends a request as it was built: no redirects, cookies or log lines on its way."""

    def __init__(self, transport: StreamTransport) -> None:
        super().__init__(
            transport=transport,
            trust_env=False,
            cookies=NoCookies(),
            headers={"Accept-Encoding": "identity"},
        )
        self.straight = transport

    async def send(
        self,
        request: httpx2.Request,
        *,
        stream: bool = False,
        auth: Any = None,
        follow_redirects: Any = False,
    ) -> httpx2.Response:
        response = await self.straight.handle_async_request(request)
        response.request = request
        if not stream:
            await response.aread()
        return response


def make_stream_client(trust: Trust) -> StreamClient:
    """A client whose answers are streams of tokens; the caller closes it."""
    return StreamClient(StreamTransport(trust))


def make_sdk_client(
    transport: httpx2.AsyncBaseTransport, headers: dict[str, str] | None = None
) -> AsyncClient:
    """A complete client, for SDKs that need all of the library; the caller closes it."""
    return AsyncClient(
        transport=transport,
        timeout=httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
        follow_redirects=False,
        cookies=NoCookies(),
        trust_env=False,
        headers=headers,
    )
