"""Creates the HTTP clients (httpx2) for SDKs, with the same rules as the server's own clients."""

import httpx2
from httpx2 import URL as URL
from httpx2 import AsyncClient as AsyncClient
from httpx2 import ConnectError as ConnectError
from httpx2 import ConnectTimeout as ConnectTimeout
from httpx2 import DecodingError as DecodingError
from httpx2 import HTTPError as HTTPError
from httpx2 import InvalidURL as InvalidURL
from httpx2 import NetworkError as NetworkError
from httpx2 import RemoteProtocolError as RemoteProtocolError
from httpx2 import Request as Request
from httpx2 import Response as Response
from httpx2 import TimeoutException as TimeoutException
from httpx2 import UnsupportedProtocol as UnsupportedProtocol

from apps.workspace.egress.clients import CONNECT_SECONDS, READ_SECONDS, NoCookies


def make_sdk_client(
    transport: httpx2.AsyncBaseTransport, headers: dict[str, str] | None = None
) -> AsyncClient:
    """Return a client for an SDK. It sends requests with `transport`, and has all of the library's
    features. The caller must close it.
    """
    return AsyncClient(
        transport=transport,
        timeout=httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
        follow_redirects=False,
        cookies=NoCookies(),
        trust_env=False,
        headers=headers,
    )
