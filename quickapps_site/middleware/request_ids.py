"""Assigns an ID to each request and WebSocket, and returns it in the header `X-Request-ID`."""

from collections.abc import Awaitable
from typing import Any

from apps.tracing import accepted_or_new_id, begin_request

HEADER = b"x-request-id"
HEADS = frozenset({"http.response.start", "websocket.accept", "websocket.http.response.start"})


def with_request_ids(application: Any) -> Any:
    """Return an ASGI application that gives each request the ID that the client sent, or else a new
    ID.
    """

    async def identified(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await application(scope, receive, send)
            return
        sent = next((value for name, value in scope["headers"] if name == HEADER), b"")
        request_id = accepted_or_new_id(sent.decode("latin-1"))

        def answer(message: Any) -> Awaitable[None]:
            # The function is not a coroutine, because it is called for each chunk of an answer.
            if message["type"] in HEADS:
                headers = [*message.get("headers", ()), (HEADER, request_id.encode())]
                message = {**message, "headers": headers}
            sending: Awaitable[None] = send(message)
            return sending

        begin_request(request_id)  # The server runs each request in its own task.
        await application(scope, receive, answer)

    return identified
