"""Rejects NUL characters in URLs and forms, because PostgreSQL cannot store them.

URLs are checked in ASGI, because API requests are routed before Django.
"""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.http.request import UnreadablePostError
from django.utils.decorators import sync_and_async_middleware
from django.utils.translation import gettext

from apps.doors.refusals import write_refusal
from quickapps_site.middleware.encodings import FORMS

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
CODE = "invalid_character"


def with_clean_addresses(application: Any) -> Any:
    """Return an ASGI application that rejects requests and WebSockets with a NUL character in the
    path or query.
    """

    def checked(scope: Message, receive: Receive, send: Send) -> Awaitable[None]:
        # This adds no coroutine, because each chunk of an answer passes through every coroutine.
        if "\0" not in scope.get("path", "") and b"%00" not in scope.get("query_string", b""):
            answering: Awaitable[None] = application(scope, receive, send)
            return answering
        if scope["type"] == "websocket":
            return send({"type": "websocket.close", "code": 4400})
        return refuse(scope, send)

    # Servers would treat a plain function as an ASGI 2 application.
    return markcoroutinefunction(checked)


async def refuse(scope: Message, send: Send) -> None:
    headers = dict(scope["headers"])
    content_type, content = refusal_of(
        scope["path"],
        headers.get(b"accept", b"").decode("latin-1"),
        gettext("The URL has a NUL character (%00). Remove it."),
    )
    sent = [
        (b"content-type", content_type),
        (b"content-length", b"%d" % len(content)),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 400, "headers": sent})
    body = b"" if scope["method"] == "HEAD" else content
    await send({"type": "http.response.body", "body": body})


def refusal_of(path: str, accept: str, text: str) -> tuple[bytes, bytes]:
    return write_refusal(path, accept, 400, gettext("The request could not be read"), text, CODE)


@sync_and_async_middleware
def refuse_nul_in_forms(get_response: Any) -> Any:
    """Create a Django middleware that rejects forms with a NUL character. It must follow the
    middleware that sets the encoding.
    """

    def refused(request: HttpRequest) -> HttpResponse | None:
        field = field_with_nul(request)
        if field is None:
            return None
        text = gettext("{field} has a NUL character. Remove it.").format(field=field)
        accept = request.headers.get("accept", "")
        content_type, content = refusal_of(request.path, accept, text)
        return HttpResponse(content, status=400, content_type=content_type.decode())

    def middleware(request: HttpRequest) -> Any:
        return refused(request) or get_response(request)

    async def async_middleware(request: HttpRequest) -> Any:
        return refused(request) or await get_response(request)

    if iscoroutinefunction(get_response):
        return markcoroutinefunction(async_middleware)
    return middleware


def field_with_nul(request: HttpRequest) -> str | None:
    """Return the name of the first form field that contains a NUL character, or None."""
    if request.method != "POST" or request.content_type not in FORMS:
        return None
    try:
        fields: Iterable[tuple[str, list[Any]]] = request.POST.lists()
    except UnreadablePostError:
        return None  # The client has disconnected.
    return next(
        (
            name.replace("\0", "")[:100]
            for name, values in fields
            if "\0" in name or any("\0" in value for value in values)
        ),
        None,
    )
