"""Sends the requests of libraries that use `requests` through the guarded client."""

import asyncio
import io
from typing import Any

import requests
from asgiref.sync import async_to_sync
from django.conf import settings
from requests.adapters import BaseAdapter

from apps.accounts.sign_in.social import SocialAdapter
from apps.errors import EgressRefused
from apps.workspace.egress.bodies import read_body
from apps.workspace.egress.clients import HTTPError, InvalidURL, find_client, parse_url
from apps.workspace.egress.guard import Trust, is_allowed

MOST_BYTES = 262_144
SECONDS = 10.0
"""The timeout for a whole response in seconds."""


class GuardedSession(requests.Session):
    """A session for URLs that an operator configured, and for URLs that the services at these URLs
    return. It follows no redirects, because a request may contain a secret.
    """

    def __init__(self) -> None:
        super().__init__()
        self.trust_env = False
        for scheme in ("https://", "http://"):
            self.mount(scheme, GuardedAdapter())

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Send a request without following redirects. Raises `requests.RequestException` if no
        response arrives, or the host is not allowed.
        """
        return super().send(request, **options | {"allow_redirects": False})


class GuardedAdapter(BaseAdapter):
    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        try:
            return async_to_sync(exchange)(request)
        except TimeoutError as error:
            raise requests.Timeout(f"No response within {SECONDS:g} seconds.") from error
        except (EgressRefused, HTTPError, InvalidURL) as error:
            raise requests.ConnectionError(f"{type(error).__name__}: {error}") from error

    def close(self) -> None:
        """Do nothing, because the adapter holds no resources."""


async def exchange(request: requests.PreparedRequest) -> requests.Response:
    """Send a request. Raises `EgressRefused`, including for a URL without TLS whose host is not on
    the allowlist.
    """
    url = parse_url(request.url or "")
    if url.scheme != "https" and not is_allowed(url.host, settings.PRIVATE_NETWORK_ALLOWLIST):
        raise EgressRefused(f"The host {url.host!r} requires https. Use an https:// URL.")
    answer = requests.Response()
    answer.request = request
    # Callers only send forms, which the library stores as text.
    sent: dict[str, Any] = {"content": request.body, "headers": dict(request.headers)}
    client = find_client(Trust.OPERATOR)
    async with (
        asyncio.timeout(SECONDS),
        client.stream(request.method or "GET", url, **sent) as response,
    ):
        body = await read_body(response, MOST_BYTES)
        answer.status_code, answer.url = response.status_code, str(url)
        answer.headers.update(response.headers)
    answer.raw = io.BytesIO(body)
    return answer


class GuardedSocialAdapter(SocialAdapter):
    """Sends requests to identity providers through the guarded session."""

    def get_requests_session(self) -> GuardedSession:
        return GuardedSession()
