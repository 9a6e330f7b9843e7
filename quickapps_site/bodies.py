"""How large the body of a request to Django may be: it keeps a whole one before any view hears of it."""

import logging
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http import HTTPStatus
from typing import Any

from apps.errors import BadRequest
from apps.streaming.bodies import BodyTooLarge, BodyTooSlow, BoundedBody, drain
from apps.streaming.refusals import refusal

logger = logging.getLogger(__name__)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
LimitOf = Callable[[str], int]
"""The most bytes of a body, by the path of its request."""


def body_limits(limits: Iterable[tuple[str, int]]) -> LimitOf:
    """`limits` are patterns of paths, of which the first that matches counts; one has to."""
    compiled = [(re.compile(pattern), most) for pattern, most in limits]
    return lambda path: next(most for pattern, most in compiled if pattern.match(path))


def with_bounded_bodies(application: Any, limit_of: LimitOf, seconds: float) -> Any:
    """An HTTP application that hears of no more of a body than its limit, sent in `seconds`."""

    async def bounded(scope: Message, receive: Receive, send: Send) -> None:
        has_begun = False

        async def answer(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        body = BoundedBody(receive, limit_of(scope["path"]), seconds)
        try:
            body.expect(scope["headers"])
            await application(scope, body.receive, answer)
        except (BodyTooLarge, BodyTooSlow) as refused:
            if has_begun:
                raise
            await refuse(refused, scope, body, send)

    return bounded


async def refuse(refused: BadRequest, scope: Message, body: BoundedBody, send: Send) -> None:
    is_too_large = isinstance(refused, BodyTooLarge)
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE if is_too_large else HTTPStatus.REQUEST_TIMEOUT
    logger.warning("A request was refused: status=%d path=%s", status, ascii(scope["path"][:200]))
    accept = dict(scope["headers"]).get(b"accept", b"").decode("latin-1")
    title = "That is too much" if is_too_large else "That took too long"
    code = "too_large" if is_too_large else "too_slow"
    content_type, content = refusal(scope["path"], accept, status, title, str(refused), code)
    headers = [
        (b"content-type", content_type),
        (b"content-length", b"%d" % len(content)),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content, "more_body": True})
    if not body.is_complete:
        await drain(body.next)
    await send({"type": "http.response.body"})
