"""Provides the HTTP clients for this server's own calls. All callers share one client per level of
trust.

The clients pool connections. They store no cookies, follow no redirects and ignore the
environment's proxy variables. Only this package may import the HTTP library, so this module exports
the names that callers need.
"""

import functools
from http.client import HTTPResponse
from http.cookiejar import CookieJar
from typing import Any
from urllib.request import Request as CookieRequest

import httpx
from django.conf import settings
from httpx import URL as URL
from httpx import AsyncClient as AsyncClient
from httpx import ConnectError as ConnectError
from httpx import ConnectTimeout as ConnectTimeout
from httpx import HTTPError as HTTPError
from httpx import InvalidURL as InvalidURL
from httpx import RequestError as RequestError
from httpx import Response as Response
from httpx import Timeout as Timeout
from httpx import TimeoutException as TimeoutException

from apps.process_state import loop_object
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.guarded_transports import HttpxTransport

CONNECT_SECONDS = 5.0
READ_SECONDS = 60.0
"""The read timeout in seconds for callers that do not set one."""
LIMITS = httpx.Limits(max_connections=200, max_keepalive_connections=50, keepalive_expiry=15)


def parse_url(text: str) -> URL:
    """Parse a URL. Raises `InvalidURL`, including for an invalid host name."""
    url = URL(text)
    try:
        _ = url.host
        url.raw_host.decode("ascii").encode("idna")
    except UnicodeError as error:
        raise InvalidURL("The host is not a valid name.") from error
    return url


def find_client(trust: Trust) -> AsyncClient:
    """Return the running event loop's client for this level of trust. For `Trust.SITE`, SITE_URL is
    the base URL.
    """
    return loop_object(trust, functools.partial(make_client, trust))


def make_client(trust: Trust) -> AsyncClient:
    return AsyncClient(
        transport=HttpxTransport(trust, LIMITS),
        timeout=httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
        follow_redirects=False,
        cookies=NoCookies(),
        trust_env=False,
        base_url=settings.SITE_URL if trust is Trust.SITE else "",
        headers={"Accept-Encoding": "gzip, deflate", "User-Agent": "QuickApps"},
    )


class NoCookies(CookieJar):
    """A cookie jar that stores no cookies, so that one caller's session cookie is not sent with
    another caller's request.
    """

    def extract_cookies(self, response: HTTPResponse, request: CookieRequest) -> None:
        return None

    def set_cookie(self, cookie: Any) -> None:
        return None
