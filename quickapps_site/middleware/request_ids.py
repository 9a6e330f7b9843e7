"""Assigns an ID to each request and WebSocket. The response contains it as `X-Request-ID`."""

from collections.abc import Awaitable
from typing import Any

from asgiref.sync import markcoroutinefunction

from apps.request_ids import accepted_or_new, begin

HEADER = b"x-request-id"
HEADS = frozenset({"http.response.start", "websocket.accept"})


def with_request_ids(application: Any) -> Any:
    """Use the client's ID, or create one."""

    def identified(scope: Any, receive: Any, send: Any) -> Awaitable[None]:
        # This adds no coroutine, because each chunk of an answer passes through every coroutine.
        if scope["type"] == "lifespan":
            started: Awaitable[None] = application(scope, receive, send)
            return started
        sent = next((value for name, value in scope["headers"] if name == HEADER), b"")
        request_id = accepted_or_new(sent.decode("latin-1"))

        def answer(message: Any) -> Awaitable[None]:
            if message["type"] in HEADS:
                headers = [*message.get("headers", ()), (HEADER, request_id.encode())]
                message = {**message, "headers": headers}
            sending: Awaitable[None] = send(message)
            return sending

        begin(request_id)  # The server has a task for each request.
        answering: Awaitable[None] = application(scope, receive, answer)
        return answering

    # Servers would treat a plain function as an ASGI 2 application.
    return markcoroutinefunction(identified)
