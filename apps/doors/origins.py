"""Accepts WebSockets only from pages of this site or of `CSRF_TRUSTED_ORIGINS`. Otherwise, a page
of any site could open a WebSocket with this site's cookies.
"""

from collections.abc import Awaitable, Callable, Mapping
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port, validate_host
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.http import is_same_domain

from apps.errors import Forbidden

Application = Callable[..., Awaitable[Any]]


class SameOrigin:
    """ASGI middleware that rejects WebSocket handshakes from other origins. Scheme and port must
    match too.
    """

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        allowed = is_allowed(headers.get(b"origin", ""), headers)
        await (self.application if allowed else WebsocketDenier())(scope, receive, send)


class CsrfCheck(CsrfViewMiddleware):
    """Django's CSRF check, without its error page, which would query the database."""

    def _reject(self, request: HttpRequest, reason: str) -> HttpResponse:
        return HttpResponse(status=403)


def check_csrf(scope: Mapping[str, Any]) -> None:
    """Raise `Forbidden` if a request comes from a page of another site, as Django's views do."""
    # Django would search the token in the form, which is not read here.
    headers = [header for header in scope["headers"] if header[0] != b"content-type"]
    request = ASGIRequest({**scope, "headers": headers}, BytesIO())
    check = CsrfCheck(lambda _: HttpResponse())
    check.process_request(request)
    if check.process_view(request, lambda _: HttpResponse(), (), {}) is not None:
        raise Forbidden(
            "csrf_failed", "Send the cookie csrftoken in the header X-CSRFToken as well."
        )


def is_allowed(origin: str, headers: Mapping[bytes, str]) -> bool:
    host = headers.get(b"host", "")
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
        return False
    scheme = "https" if settings.HTTPS else "http"
    return origin.lower() == f"{scheme}://{host.lower()}" or is_trusted(origin)


def is_trusted(origin: str) -> bool:
    """Return True if the origin is in `CSRF_TRUSTED_ORIGINS`, in which `https://*.example.com`
    matches all subdomains.
    """
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return any(
        parts.scheme == scheme and is_same_domain(parts.netloc, pattern.lstrip("*"))
        for scheme, _, pattern in (one.partition("://") for one in settings.CSRF_TRUSTED_ORIGINS)
        if pattern.startswith("*")
    )
