"""Rejects writes through Django's views while the installation is read-only.

API requests are routed before Django, so the APIs check the read-only mode themselves.
"""

from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from django.utils.decorators import sync_and_async_middleware
from django.utils.translation import gettext

from apps.doors.read_only_notice import read_only_notice
from apps.doors.refusals import write_refusal
from apps.errors import ReadOnly
from apps.runs.explanations import error_text
from apps.workspace.local import read_only

READING = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
SERVED = frozenset(
    {
        "read-only",
        "login",
        "account_login",
        "logout",
        "admin:login",
        "admin:logout",
        "mfa_authenticate",
        "mfa_login_webauthn",
    }
)
"""The names of URLs that accept writes in read-only mode. Users can sign in and out, and
administrators can end the mode.
"""


@sync_and_async_middleware
def refuse_writes(get_response: Any) -> Any:
    def middleware(request: HttpRequest) -> Any:
        if writes(request) and read_only.is_on():
            return unavailable(request)
        return get_response(request)

    async def async_middleware(request: HttpRequest) -> Any:
        if writes(request) and await read_only.is_on_async():
            return unavailable(request)
        return await get_response(request)

    if iscoroutinefunction(get_response):
        return markcoroutinefunction(async_middleware)
    return middleware


def banner(request: HttpRequest) -> dict[str, Any]:
    """Add the function that returns the banner's text to the template context."""
    return {"read_only_notice": read_only_notice}


def writes(request: HttpRequest) -> bool:
    if request.method in READING:
        return False
    try:
        return resolve(request.path_info).view_name not in SERVED
    except Resolver404:
        return False


def unavailable(request: HttpRequest) -> HttpResponse:
    error, accept = ReadOnly(), request.headers.get("accept", "")
    text = error_text(error)
    content_type, content = write_refusal(
        request.path, accept, error.http_status, gettext("Maintenance"), text, error.code
    )
    response = HttpResponse(content, status=error.http_status, content_type=content_type.decode())
    response.headers["Retry-After"] = f"{error.retry_after:.0f}"
    return response
