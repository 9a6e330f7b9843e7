"""The body of a request: how large it may be, how long it may take, and what is done with the rest."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from apps.errors import BadRequest

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

LINGERING_SECONDS = 5.0


class BodyTooLarge(BadRequest):
    http_status = 413

    def __init__(self, limit: int) -> None:
        super().__init__(f"The request is too large; at most {limit:,} bytes are possible.")


class BodyTooSlow(BadRequest):
    http_status = 408

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The request did not arrive within {seconds:g} seconds.")


class BoundedBody:
    """An ASGI `receive` that gives no more of a body than `limit` bytes, sent in `seconds`.

    After the body it gives whatever comes, without a deadline.
    """

    def __init__(self, receive: Receive, limit: int, seconds: float) -> None:
        self.next = receive
        self.limit = limit
        self.seconds = seconds
        self.end = asyncio.get_running_loop().time() + seconds
        self.size = 0
        self.is_complete = False

    def expect(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Raises `BodyTooLarge` for a body that says itself that it is."""
        for name, value in headers:
            if name.lower() == b"content-length" and value.isdigit():
                if int(value[:20]) > self.limit:
                    raise BodyTooLarge(self.limit)
                return

    async def receive(self) -> Message:
        """Raises `BodyTooLarge`, `BodyTooSlow`."""
        if self.is_complete:
            return await self.next()
        try:
            async with asyncio.timeout_at(self.end):
                message = await self.next()
        except TimeoutError:
            raise BodyTooSlow(self.seconds) from None
        if message["type"] == "http.request":
            self.size += len(message.get("body", b""))
            self.is_complete = not message.get("more_body", False)
            if self.size > self.limit:
                raise BodyTooLarge(self.limit)
        return message


async def drain(receive: Receive) -> None:
    """Take what is still sent of a body, for `LINGERING_SECONDS` at most.

    A connection that is closed with bytes unread is reset, and the client loses the answer that it
    reads only after it has sent everything.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGERING_SECONDS):
            message = await receive()
            while message["type"] == "http.request" and message.get("more_body"):
                message = await receive()
