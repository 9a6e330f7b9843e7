"""Limits the size of request bodies, because Django reads a body completely before it calls a view."""

import logging
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http import HTTPStatus
from typing import Any

from apps.doors.bodies import BodyTooSlow, BoundedBody, RequestBodyTooLarge, drain
from apps.doors.refusals import RETRY_AFTER, Header, outage_content, write_refusal
from apps.errors import BadRequest
from apps.outages import Outage, outage_of

logger = logging.getLogger(__name__)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
LimitOf = Callable[[str], int]
"""A function that returns the maximum size of a request body in bytes for a path."""


def body_limits(limits: Iterable[tuple[str, int]]) -> LimitOf:
    """Return a function that returns the limit for a path.

    `limits` are pairs of a regular expression for paths and a number of bytes. The first pair that
    matches applies, and every path must match one.
    """
    compiled = [(re.compile(pattern), most) for pattern, most in limits]
    return lambda path: next(most for pattern, most in compiled if pattern.match(path))


def with_bounded_bodies(application: Any, limit_of: LimitOf, seconds: float) -> Any:
    """Return an ASGI application that limits the size of request bodies. It also limits the time
    for sending a body to `seconds`.
    """

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
        except (RequestBodyTooLarge, BodyTooSlow) as refused:
            if has_begun:
                raise
            await refuse(refused, scope, body, send)
        except Exception as error:
            # An outage can cause errors here: sessions are read before a consumer is called, and
            # bodies are stored before a view is called.
            if has_begun or (outage := outage_of(error)) is None:
                raise
            logger.error("Failed to answer a request", exc_info=error)
            await answer_outage(outage, scope, body, send)

    return bounded


async def answer_outage(outage: Outage, scope: Message, body: BoundedBody, send: Send) -> None:
    content = outage_content(outage, scope["path"], accept_of(scope))
    await answer_early(503, *content, (RETRY_AFTER,), body, send)


async def refuse(refused: BadRequest, scope: Message, body: BoundedBody, send: Send) -> None:
    is_too_large = isinstance(refused, RequestBodyTooLarge)
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE if is_too_large else HTTPStatus.REQUEST_TIMEOUT
    logger.warning("A request was rejected: status=%d path=%s", status, ascii(scope["path"][:200]))
    title = "The request is too large" if is_too_large else "The request took too long"
    code = "too_large" if is_too_large else "too_slow"
    content = write_refusal(scope["path"], accept_of(scope), status, title, str(refused), code)
    await answer_early(status, *content, (), body, send)


async def answer_early(
    status: int,
    content_type: bytes,
    content: bytes,
    headers: Iterable[Header],
    body: BoundedBody,
    send: Send,
) -> None:
    """Send a response, such as an error, before the request's body is complete. Then discard the
    rest of the body.
    """
    sent = [
        (b"content-type", content_type),
        (b"content-length", b"%d" % len(content)),
        (b"connection", b"close"),
        *headers,
    ]
    await send({"type": "http.response.start", "status": status, "headers": sent})
    await send({"type": "http.response.body", "body": content, "more_body": True})
    if not body.is_complete:
        await drain(body.next)
    await send({"type": "http.response.body"})


def accept_of(scope: Message) -> str:
    accept: bytes = dict(scope["headers"]).get(b"accept", b"")
    return accept.decode("latin-1")
