"""How large the body of a request may be, and how long it may take to come.

A body is kept on disk before any view hears of it, whoever sends it, so it is refused here: by the
length it declares, else while it is counted.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http import HTTPStatus
from typing import Any

logger = logging.getLogger(__name__)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]
MostOf = Callable[[str], int]
"""The most bytes of a body, by the path of its request."""


class BodyRefused(Exception):
    """`text` is for whoever sent it."""

    def __init__(self, status: HTTPStatus, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


def too_large(most: int) -> BodyRefused:
    return BodyRefused(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"The request is too large; at most {most:,} bytes are possible.",
    )


def too_slow(seconds: float) -> BodyRefused:
    return BodyRefused(
        HTTPStatus.REQUEST_TIMEOUT,
        f"The request did not arrive within {seconds:g} seconds.",
    )


def most_of(limits: Iterable[tuple[str, int]]) -> MostOf:
    """`limits` are patterns of paths, of which the first that matches counts; one has to."""
    compiled = [(re.compile(pattern), most) for pattern, most in limits]
    return lambda path: next(most for pattern, most in compiled if pattern.match(path))


class BoundedBodies:
    """An ASGI application that hears of no more of a body than `most` bytes, sent in `seconds`."""

    def __init__(self, application: Any, most: MostOf, seconds: float) -> None:
        self.application = application
        self.most = most
        self.seconds = seconds

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        answer = Answer(send)
        body = Body(receive, self.most(scope["path"]), self.seconds)
        try:
            body.expect(scope["headers"])
            await self.application(scope, body.receive, answer.send)
        except BodyRefused as refused:
            if answer.has_begun:
                raise
            tell(refused, scope["path"])
            await answer.refuse(refused, scope["headers"])


class Body:
    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self.next = receive
        self.most = most
        self.seconds = seconds
        self.end = asyncio.get_running_loop().time() + seconds
        self.size = 0
        self.is_complete = False

    def expect(self, headers: Headers) -> None:
        """Raises `BodyRefused` for a body that says of itself that it is too large."""
        declared = header(headers, b"content-length")
        if declared.isdigit() and int(declared) > self.most:
            raise too_large(self.most)

    async def receive(self) -> Message:
        """Raises `BodyRefused`."""
        if self.is_complete:
            return await self.next()
        try:
            async with asyncio.timeout_at(self.end):
                message = await self.next()
        except TimeoutError:
            raise too_slow(self.seconds) from None
        if message["type"] == "http.request":
            self.size += len(message.get("body", b""))
            self.is_complete = not message.get("more_body", False)
            if self.size > self.most:
                raise too_large(self.most)
        return message


class Answer:
    def __init__(self, send: Send) -> None:
        self.next = send
        self.has_begun = False

    async def send(self, message: Message) -> None:
        self.has_begun = True
        await self.next(message)

    async def refuse(self, refused: BodyRefused, headers: Headers) -> None:
        content_type, content = page_of(refused, header(headers, b"accept"))
        told = [
            (b"content-type", content_type),
            (b"content-length", b"%d" % len(content)),
            (b"connection", b"close"),
        ]
        await self.send({"type": "http.response.start", "status": refused.status, "headers": told})
        await self.send({"type": "http.response.body", "body": content})


def header(headers: Headers, name: bytes) -> bytes:
    return next((value for key, value in headers if key.lower() == name), b"")


def page_of(refused: BodyRefused, accept: bytes) -> tuple[bytes, bytes]:
    """The answer's type and content: a page for who loads pages, else JSON."""
    if b"text/html" in accept:
        from django.template.loader import render_to_string

        title = "That is too much" if refused.status == 413 else "That took too long"
        named = {"status": int(refused.status), "title": title, "text": refused.text}
        return b"text/html; charset=utf-8", render_to_string("413.html", named).encode()
    code = "too_large" if refused.status == 413 else "too_slow"
    error = {"message": refused.text, "code": code}
    return b"application/json", json.dumps({"error": error}).encode()


def tell(refused: BodyRefused, path: str) -> None:
    logger.warning("A request was refused: status=%d path=%s", refused.status, ascii(path[:200]))
