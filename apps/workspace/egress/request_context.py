"""Stores the limits and the outcome of each HTTP request that an SDK with sessions sends.

Such an SDK sends requests in its own tasks and reports little about their failures. A request that
cannot be sent may even end the session. The caller therefore sets a `RequestContext` in a context
variable, which the SDK's tasks inherit. The context records a failure, and the SDK gets a response
that fails only that request.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Self

import httpx2
from httpx2 import SSEError as SSEError

from apps.agent.surrogates import SurrogateReplacer
from apps.workspace.egress.challenges import CHALLENGE_CHARACTERS, lacks_scope

REFUSAL_BYTES = 4_096
UNANSWERED = -1
LINE_ENDS = (b"\n", b"\r")
Rewrite = Callable[[bytes], list[bytes]]
"""A function that converts a message from a server to the messages that the SDK reads."""
Takes = Callable[[bytes], bool]
"""A function that returns True if the SDK should read a message from an event stream."""


@dataclass(slots=True)
class RequestContext:
    """The headers, time limit and outcome of one operation over HTTP."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    seconds: float = 60.0
    status: int = 0
    """The HTTP status of an error response, or 0."""
    retry_after: float | None = None
    """The number of seconds in an error response's `Retry-After` header."""
    failure: str = ""
    """A sentence about a failed connection, or ""."""
    timed_out: bool = False
    first_status: int = 0
    """The status of the response to the first POST. An error status means that the server did
    nothing.
    """
    challenge: str = field(default="", repr=False)
    """An error response's `WWW-Authenticate` header."""
    refusal: bytes = field(default=b"", repr=False)
    """The part of an error response's body that the SDK has read."""
    is_limited_elsewhere: bool = False
    """True if the caller limits the response's time once the response has begun."""
    listens: bool = False
    """True if the response is a stream of notifications, without limits on size and time."""
    opens: bool = False
    """True if the operation opens a session."""

    def fresh(self) -> Self:
        """Return a copy of the context without an outcome."""
        limited = self.is_limited_elsewhere
        return type(self)(self.headers, self.seconds, is_limited_elsewhere=limited)

    def forget_outcome(self) -> None:
        """Reset the outcome before another attempt at the same operation."""
        self.status, self.failure, self.timed_out = 0, "", False
        self.first_status, self.retry_after = 0, None
        self.challenge, self.refusal = "", b""

    @property
    def needs_sign_in(self) -> bool:
        """Return True if the service rejected the credentials and will reject every further
        request.
        """
        is_short = self.status == HTTPStatus.FORBIDDEN and lacks_scope(self.challenge)
        return self.status == HTTPStatus.UNAUTHORIZED or is_short

    @property
    def is_final(self) -> bool:
        """Return True if another request for the same operation would fail for the same reason.

        A 5xx with a JSON-RPC error comes from a running server that rejected one method.
        """
        is_down = self.status >= HTTPStatus.INTERNAL_SERVER_ERROR and not (
            self.refusal.lstrip().startswith(b"{")
        )
        return self.needs_sign_in or (self.opens and is_down)

    def refuse(self, status: int, challenge: str, retry_after: float | None) -> None:
        self.status, self.retry_after = status, retry_after
        self.challenge = challenge[:CHALLENGE_CHARACTERS]

    def fail(self, text: str, *, timed_out: bool = False) -> None:
        self.status, self.failure, self.timed_out = 0, text, timed_out
        self.first_status = self.first_status or UNANSWERED

    @property
    def status_line(self) -> str:
        """Return the status code and its standard phrase, instead of the service's own phrase."""
        try:
            return f"{self.status} {HTTPStatus(self.status).phrase}"
        except ValueError:
            return str(self.status)


CURRENT: ContextVar[RequestContext | None] = ContextVar("request_context", default=None)


def take_all(message: bytes) -> bool:
    return True


class RewrittenMessages:
    """Rewrites the messages in a body that arrives in chunks: a JSON body, or the data of each
    event.

    Events that are too long remain unchanged. If `rewrite` returns several messages for an event's
    message, each of them becomes an event. A JSON body is reduced to the last message, unless
    `as_events` is true. Messages that `takes` rejects are dropped from events. If the blank line
    after the last event is missing, it is added, because the SDK would otherwise ignore the event.
    """

    def __init__(
        self, rewrite: Rewrite, most: int, *, is_stream: bool, takes: Takes = take_all
    ) -> None:
        self.rewrite = rewrite
        self.most = most
        self.is_stream = is_stream
        self.takes = takes
        self.as_events = False
        self.buffer = bytearray()
        self.event: list[bytes] = []
        """The lines of the current event, starting with its first data line."""
        self.size = 0
        self.name = b""
        self.is_too_long = False
        self.is_after_return = False
        """True if the last line ended with a carriage return. A line feed may still follow."""

    def feed(self, chunk: bytes) -> bytes:
        self.buffer += chunk
        end = max(map(self.buffer.rfind, LINE_ENDS)) + 1 if self.is_stream else 0
        ready = b""
        if not end and len(self.buffer) > self.most:
            ready, self.is_too_long = self.take_event(), True
            end = len(self.buffer)
        lines = bytes(self.buffer[:end])
        del self.buffer[:end]
        return ready + b"".join(map(self.line, lines.splitlines(keepends=True)))

    def line(self, line: bytes) -> bytes:
        """Add one line of the body, and return the bytes to forward. An event's data is buffered
        until the event is complete.
        """
        is_rest, self.is_after_return = self.is_after_return, line.endswith(b"\r")
        if is_rest and line == b"\n":
            if self.event:
                self.event[-1] += line
                return b""
            return line
        if not line.strip(b"\r\n"):
            ready = self.rewritten_event() + line
            self.name, self.is_too_long = b"", False
            return ready
        if line.startswith(b"event:"):
            self.name = line[len(b"event:") :].strip()
        if self.is_too_long or not (self.event or line.startswith(b"data:")):
            return line
        self.event.append(line)
        self.size += len(line)
        if self.size > self.most:
            self.is_too_long = True
            return self.take_event()
        return b""

    def take_event(self) -> bytes:
        """Return the current event unchanged, and reset the state for the next event."""
        taken = b"".join(self.event)
        self.event.clear()
        self.size = 0
        return taken

    def rewritten_event(self) -> bytes:
        """Rewrite the messages of the current event, and return the event without its blank line.
        Return b"" if nothing remains.
        """
        lines = [*self.event]
        as_it_is = self.take_event()
        if not lines or self.name not in (b"", b"message"):
            return as_it_is
        data = data_of(lines)
        found = [message for message in self.rewrite(data) if self.takes(message)]
        if len(found) == 1 and found[0] is data:
            return as_it_is
        others = b"".join(line for line in lines if not line.startswith(b"data:"))
        if not found:
            return others
        ending = lines[-1][len(lines[-1].rstrip(b"\r\n")) :]
        return others + b"data: " + b"\n\ndata: ".join(map(in_one_line, found)) + ending

    def end(self) -> bytes:
        rest = bytes(self.buffer)
        if self.as_events:
            return b"".join(map(event_of, filter(self.takes, self.rewrite(rest))))
        if not self.is_stream:
            return self.rewrite(rest)[-1]
        ready = self.line(rest) if rest else b""
        is_whole = bool(self.event) and data_of(self.event).endswith((b"}", b"]"))
        last = self.rewritten_event()
        return ready + last + (b"\n\n" if last and is_whole else b"")


def data_of(lines: list[bytes]) -> bytes:
    """Return the joined data of an event, given its lines."""
    return b"\n".join(line[len(b"data:") :].strip() for line in lines if line.startswith(b"data:"))


def in_one_line(message: bytes) -> bytes:
    """Remove the line breaks from a JSON message. They can occur only between its values."""
    return b" ".join(message.splitlines())


def event_of(message: bytes) -> bytes:
    """Return a JSON message in the form of a server-sent event."""
    return b"data: " + in_one_line(message) + b"\n\n"


class LimitedBody(httpx2.AsyncByteStream):
    """A response body with limits. It raises `httpx2.StreamError`, which SDKs treat as a failure of
    only that request.

    Unpaired surrogates are replaced, because SDKs reject them. `ends_at` is the deadline on the
    event loop's clock, or None for no limit. `messages` rewrites the messages.
    """

    def __init__(
        self,
        response: httpx2.Response,
        most: int,
        context: RequestContext,
        ends_at: float | None,
        messages: RewrittenMessages,
    ) -> None:
        self.response = response
        self.most = most
        self.size = 0
        self.context = context
        self.ends_at = ends_at
        self.messages = messages
        self.chunks = self.read()
        self.ahead = b""
        self.failure: httpx2.StreamError | None = None

    async def is_batch(self) -> bool:
        """Read ahead to the first character of the body, and return True if it begins a list."""
        while not (begun := self.ahead.lstrip(b"\xef\xbb\xbf \t\r\n")):
            try:
                chunk = await anext(self.chunks, None)
            except httpx2.StreamError as error:
                self.failure = error
                return False
            if chunk is None:
                return False
            self.ahead += chunk
        return begun.startswith(b"[")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if ready := self.messages.feed(self.ahead):
            yield ready
        if self.failure is not None:
            raise self.failure
        async for chunk in self.chunks:
            if ready := self.messages.feed(chunk):
                yield ready
        if rest := self.messages.end():
            yield rest

    async def read(self) -> AsyncIterator[bytes]:
        """Yield the chunks of the body as they arrive. A character is never split between two
        chunks.
        """
        if self.response.headers.get("content-encoding", "identity").lower() != "identity":
            raise self.stream_error("the server sent a compressed response that was not requested.")
        replacer = SurrogateReplacer()
        chunks = aiter(self.response.stream)  # type: ignore[arg-type]
        try:
            while True:
                async with asyncio.timeout_at(self.ends_at):
                    chunk = await anext(chunks, None)
                if chunk is None:
                    break
                self.count(chunk)
                yield replacer.feed(chunk)
            yield replacer.end()
        except (httpx2.TimeoutException, TimeoutError) as error:
            raise self.stream_error("the server's response timed out.", timed_out=True) from error
        except httpx2.HTTPError as error:
            raise self.stream_error(
                "the server disconnected before the end of its response."
            ) from error

    def count(self, chunk: bytes) -> None:
        """Count the bytes of a chunk. Raises `httpx2.StreamError` if the body is too large."""
        self.size += len(chunk)
        if self.response.is_error:
            self.context.refusal += chunk[: REFUSAL_BYTES - len(self.context.refusal)]
        if self.size > self.most:
            raise self.stream_error(
                f"the server's response is too large; the limit is {self.most:,} bytes. "
                "Request less data at once."
            )

    def stream_error(self, text: str, *, timed_out: bool = False) -> httpx2.StreamError:
        self.context.fail(text, timed_out=timed_out)
        return httpx2.StreamError(text)

    async def aclose(self) -> None:
        await self.response.aclose()
