"""Rejects WebSocket handshakes with status 503 during an outage of the database or the disk. Pages
get the same status.
"""

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from apps.doors.refusals import RETRY_AFTER, outage_content
from apps.outages import Outage, outage_of

logger = logging.getLogger(__name__)

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
DENIAL = "websocket.http.response"
"""The ASGI extension that lets an application reject a handshake with an HTTP response."""
TRY_AGAIN_LATER = 1013
"""The code with which a handshake is closed on servers that lack the extension. These servers then
return status 403.
"""


def with_outage_responses(application: Any) -> Any:
    """Return an ASGI application for WebSockets that rejects handshakes during an outage."""

    async def answered(scope: Message, receive: Any, send: Send) -> None:
        has_begun = False

        def answer(message: Message) -> Awaitable[None]:
            # The function is not a coroutine, because it is called for each frame.
            nonlocal has_begun
            has_begun = True
            return send(message)

        try:
            await application(scope, receive, answer)
        except Exception as error:
            # An outage can cause errors here: sessions are read before a consumer is called, and
            # visitors' sessions are created before a consumer accepts the handshake.
            if has_begun or (outage := outage_of(error)) is None:
                raise
            logger.error("Failed to open a WebSocket", exc_info=error)
            await reject(scope, outage, send)

    return answered


async def reject(scope: Message, outage: Outage, send: Send) -> None:
    if DENIAL not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": TRY_AGAIN_LATER})
        return
    content_type, content = outage_content(outage, scope["path"], "")
    length = str(len(content)).encode()
    headers = [(b"content-type", content_type), (b"content-length", length), RETRY_AFTER]
    await send({"type": f"{DENIAL}.start", "status": 503, "headers": headers})
    await send({"type": f"{DENIAL}.body", "body": content})
