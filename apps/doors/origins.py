"""Accepts WebSockets only from pages on this site. Any page can open a WebSocket, and browsers send
this site's cookies with it.
"""

from collections.abc import Awaitable, Callable, Mapping
from io import BytesIO
from typing import Any

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port, validate_host
from django.middleware.csrf import CsrfViewMiddleware

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
    """Raise `Forbidden` if a request comes from a page on another site, as Django's views do."""
    # Django would search for the token in the form, which is not read here.
    headers = [header for header in scope["headers"] if header[0] != b"content-type"]
    request = ASGIRequest({**scope, "headers": headers}, BytesIO())
    check = CsrfCheck(lambda _: HttpResponse())
    check.process_request(request)
    if check.process_view(request, lambda _: HttpResponse(), (), {}) is not None:
        raise Forbidden(
            "csrf_failed",
            "Send the value of the csrftoken cookie in the X-CSRFToken header as well.",
        )


def is_allowed(origin: str, headers: Mapping[bytes, str]) -> bool:
    host = headers.get(b"host", "")
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
        return False
    scheme = "https" if settings.HTTPS else "http"
    own = f"{scheme}://{host.lower()}"
    return origin.lower() in (own, *settings.CSRF_TRUSTED_ORIGINS)
