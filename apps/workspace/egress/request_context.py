"""HTTP under an SDK that keeps a session: limits and outcome of each request.

An SDK with a session sends requests in tasks of its own and reports little about their failures;
a request that cannot be sent may even end the session. So the caller sets a `RequestContext` in a
context variable, which the SDK's tasks inherit. A failure is noted there, and the SDK gets an
answer that fails that one request only.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Self

import httpx2
from httpx2 import SSEError as SSEError

from apps.agent.surrogates import Mender

REFUSAL_BYTES = 4_096
UNANSWERED = -1
LINE_ENDS = (b"\n", b"\r")
Rewrite = Callable[[bytes], bytes]
"""Given a whole message of a server, returns what the SDK reads in its place."""


@dataclass(slots=True)
class RequestContext:
    """The headers, the time limit and the outcome of one piece of work over HTTP.

    `status` is the HTTP status of a refusal, `retry_after` its seconds, `refusal` the part of its
    body that the SDK read; `failure` is a sentence about a failed connection. `first_status` is the
    status of the first POST and does not change: a refusal there means that nothing was done.
    `is_limited_elsewhere`: an answer that has begun may take any time, which the caller limits.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    seconds: float = 60.0
    status: int = 0
    retry_after: float | None = None
    failure: str = ""
    timed_out: bool = False
    first_status: int = 0
    refusal: bytes = field(default=b"", repr=False)
    is_limited_elsewhere: bool = False

    def fresh(self) -> Self:
        """A copy without an outcome."""
        limited = self.is_limited_elsewhere
        return type(self)(self.headers, self.seconds, is_limited_elsewhere=limited)

    def fail(self, text: str, *, timed_out: bool = False) -> None:
        self.status, self.failure, self.timed_out = 0, text, timed_out
        self.first_status = self.first_status or UNANSWERED

    @property
    def status_line(self) -> str:
        """The number and its standard phrase; the service's own words are not used."""
        try:
            return f"{self.status} {HTTPStatus(self.status).phrase}"
        except ValueError:
            return str(self.status)


CURRENT: ContextVar[RequestContext | None] = ContextVar("request_context", default=None)


class Messages:
    """Rewrites the messages of a body that arrives in pieces: the JSON that it is, or the data of
    each of its events. Data of several lines stays as it is, and so does a line that is too long.
    """

    def __init__(self, rewrite: Rewrite, most: int, *, is_stream: bool) -> None:
        self.rewrite = rewrite
        self.most = most
        self.is_stream = is_stream
        self.rest = bytearray()

    def feed(self, piece: bytes) -> bytes:
        self.rest += piece
        end = max(map(self.rest.rfind, LINE_ENDS)) + 1 if self.is_stream else 0
        if not end and len(self.rest) > self.most:
            end = len(self.rest)
        lines = bytes(self.rest[:end])
        del self.rest[:end]
        return b"".join(map(self.line, lines.splitlines(keepends=True)))

    def line(self, line: bytes) -> bytes:
        if not line.startswith(b"data:"):
            return line
        data = line[len(b"data:") :].strip()
        ending = line[len(line.rstrip(b"\r\n")) :]
        found = self.rewrite(data)
        return line if found is data else b"data: " + found + ending

    def end(self) -> bytes:
        rest = bytes(self.rest)
        return self.line(rest) if self.is_stream else self.rewrite(rest)


class LimitedBody(httpx2.AsyncByteStream):
    """Raises `httpx2.StreamError`, which SDKs take as the failure of one request.

    `ends_at` is on the clock of the event loop, None for never. Halves of characters, which SDKs
    refuse, are mended, and the `messages` rewritten.
    """

    def __init__(
        self,
        response: httpx2.Response,
        most: int,
        context: RequestContext,
        ends_at: float | None,
        messages: Messages,
    ) -> None:
        self.response = response
        self.most = most
        self.size = 0
        self.context = context
        self.ends_at = ends_at
        self.messages = messages

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self.response.headers.get("content-encoding", "identity").lower() != "identity":
            raise self.stream_error("the server sent a packed answer that was not asked for.")
        mender = Mender()
        pieces = aiter(self.response.stream)  # type: ignore[arg-type]
        try:
            while True:
                async with asyncio.timeout_at(self.ends_at):
                    piece = await anext(pieces, None)
                if piece is None:
                    break
                self.count(piece)
                if ready := self.messages.feed(mender.feed(piece)):
                    yield ready
            if rest := self.messages.feed(mender.end()) + self.messages.end():
                yield rest
        except (httpx2.TimeoutException, TimeoutError) as error:
            raise self.stream_error(
                "the server did not finish its answer in time.", timed_out=True
            ) from error
        except httpx2.HTTPError as error:
            raise self.stream_error("the server broke off its answer.") from error

    def count(self, piece: bytes) -> None:
        """Raises `httpx2.StreamError` for a body that is too large."""
        self.size += len(piece)
        if self.response.is_error:
            self.context.refusal += piece[: REFUSAL_BYTES - len(self.context.refusal)]
        if self.size > self.most:
            raise self.stream_error(
                f"the server's answer is larger than {self.most:,} bytes. Ask for less at once."
            )

    def stream_error(self, text: str, *, timed_out: bool = False) -> httpx2.StreamError:
        self.context.fail(text, timed_out=timed_out)
        return httpx2.StreamError(text)

    async def aclose(self) -> None:
        await self.response.aclose()
