"""Defines the base classes of all API endpoints. They answer HTTP requests outside of Django, cancel
them when the client disconnects, and send responses and errors in the format of each API.

A request takes only two tasks: the server's, which writes the response, and one that waits for the
disconnect.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

import msgspec
from asgiref.sync import markcoroutinefunction
from channels.consumer import AsyncConsumer

from apps.doors.admission import DENIALS, note_denial
from apps.doors.answer_headers import failure_headers
from apps.doors.bodies import BODY_SECONDS, BoundedBody, Receive, drain
from apps.doors.refusals import RETRY_AFTER, Header
from apps.errors import BudgetSpent
from apps.outages import outage_of
from apps.runs.failures import WITH_LIMITS, RunFailure, failure, fault
from apps.workspace.local import read_only

logger = logging.getLogger(__name__)

T = TypeVar("T")
Scope = Mapping[str, Any]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]

EVENT_STREAM: tuple[Header, ...] = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
)
"""The headers of an event stream. They prevent proxies from storing or buffering it."""
JSON: tuple[Header, ...] = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
)
CLOSE = (b"connection", b"close")
PLAIN = (b"content-type", b"text/plain; charset=utf-8")
HEARTBEAT = b": heartbeat\n\n"
READING = frozenset({"GET", "HEAD"})


class HttpConsumer(AsyncConsumer):  # type: ignore[misc]
    """Answers one request. Subclasses implement `handle`, which is canceled when the client
    disconnects.

    `handle` calls `read_body`, and disconnects are detected from then on. It responds with
    `respond`, or with `start`, `write` and `end`.
    """

    scope: Scope
    receive: Receive
    base_send: Send

    def __init__(self) -> None:
        self.body_seconds: float = BODY_SECONDS
        self.is_read = False
        self.is_started = False
        self.is_complete = False
        self.is_gone = False
        self.written_at = 0.0
        self.early: list[Mapping[str, Any]] = []
        self.listening: asyncio.Task[None] | None = None
        self.silence_timer: asyncio.TimerHandle | None = None
        self.heartbeat_task: asyncio.Task[None] | None = None

    @classmethod
    def as_asgi(cls, **options: Any) -> Any:
        """Return an ASGI application that creates a consumer for each request."""

        def application(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
            # This is not a coroutine itself, because each chunk of an answer passes through every
            # coroutine.
            return cls(**options)(scope, receive, send)

        vars(application)["consumer_class"] = cls
        return markcoroutinefunction(application)

    async def handle(self) -> None:
        raise NotImplementedError

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope, self.receive, self.base_send = scope, receive, send
        try:
            await self.handle()
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not self.is_gone or task is None or task.uncancel() > 0:
                raise
        except Exception as error:
            logger.exception("Failed to answer a request")
            await self.fail(error)
        finally:
            self.stop_listening()

    # --- In ------------------------------------------------------------------------------------

    def header(self, name: bytes) -> str:
        """Return the value of the first header with this lowercase name, or ""."""
        for key, value in self.scope["headers"]:
            if key == name:
                return str(value.decode("latin-1"))
        return ""

    async def while_connected(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`, which is canceled if the client disconnects. Call this
        method before the body is read.
        """
        listening = asyncio.ensure_future(self.listen_early(asyncio.current_task()))
        try:
            return await work
        finally:
            listening.cancel()

    async def listen_early(self, answering: asyncio.Task[Any] | None) -> None:
        # Only the first part of the body is received here. The rest may not be needed.
        message = await self.receive()
        self.early.append(message)
        while message["type"] == "http.request" and not message.get("more_body"):
            message = await self.receive()
        if message["type"] == "http.disconnect":
            self.leave(answering)

    async def read_body(self, limit: int) -> bytes:
        """Return the whole body. After this, a disconnect cancels the request. Raises the same
        errors as `body_parts`.
        """
        body, parts = self.bounded_body(limit), []
        while not self.is_read:
            parts.append(await self.next_part(body))
        return b"".join(parts)

    async def body_parts(self, limit: int) -> AsyncGenerator[bytes, None]:
        """Yield the body as it arrives. After this, a disconnect cancels the request.

        Raises `RequestBodyTooLarge` as early as possible, and `BodyTooSlow` after a timeout.
        """
        body = self.bounded_body(limit)
        while not self.is_read:
            yield await self.next_part(body)

    def bounded_body(self, limit: int) -> BoundedBody:
        """Return a reader for a body of up to `limit` bytes. Raises `RequestBodyTooLarge` if the
        Content-Length exceeds the limit.
        """
        body = BoundedBody(self.receive_next, limit, self.body_seconds)
        body.expect(self.scope["headers"])
        return body

    async def next_part(self, body: BoundedBody) -> bytes:
        """Return the next part of the body. Raises `RequestBodyTooLarge` or `BodyTooSlow`."""
        try:
            message = await body.receive()
        finally:
            self.is_read = body.is_complete
        if message["type"] == "http.disconnect":
            self.leave(asyncio.current_task())
            await asyncio.sleep(0)  # A cancellation arrives here.
        if self.is_read:
            self.listening = asyncio.ensure_future(self.listen(asyncio.current_task()))
        part: bytes = message.get("body", b"")
        return part

    def is_awaiting_body(self) -> bool:
        if self.is_read:
            return False
        declared = self.header(b"content-length"), self.header(b"transfer-encoding")
        return declared not in {("", ""), ("0", "")}

    async def receive_next(self) -> Mapping[str, Any]:
        return self.early.pop() if self.early else await self.receive()

    async def listen(self, answering: asyncio.Task[Any] | None) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass
        if not self.is_complete:
            self.leave(answering)

    def leave(self, answering: asyncio.Task[Any] | None) -> None:
        self.is_gone = True
        if answering is not None:
            answering.cancel()

    def stop_listening(self) -> None:
        for waiting in (self.listening, self.silence_timer):
            if waiting is not None:
                waiting.cancel()
        # The task's error refers to this consumer. The cycle would keep the request's data in
        # memory until the next garbage collection.
        self.listening = self.silence_timer = None

    # --- Out -----------------------------------------------------------------------------------

    async def respond(self, status: int, body: bytes, headers: Iterable[Header] = ()) -> None:
        """Send a complete response. The response to a HEAD request has the same headers but no
        body.
        """
        length = (b"content-length", b"%d" % len(body))
        await self.start(status, (*headers, length))
        await self.end(b"" if self.scope["method"] == "HEAD" else body)

    async def start(self, status: int, headers: Iterable[Header]) -> None:
        self.is_started = True
        sent = [*headers, CLOSE] if self.is_awaiting_body() else [*headers]
        await self.base_send({"type": "http.response.start", "status": status, "headers": sent})

    async def write(self, body: bytes) -> None:
        self.written_at = time.monotonic()
        await self.base_send({"type": "http.response.body", "body": body, "more_body": True})

    async def end(self, body: bytes = b"") -> None:
        """Send the last part of the response. If the client is still sending, read the rest of its
        body, because it would otherwise lose the response.
        """
        self.is_complete = True
        if self.is_awaiting_body():
            await self.base_send({"type": "http.response.body", "body": body, "more_body": True})
            await drain(self.receive_next)
            body = b""
        await self.base_send({"type": "http.response.body", "body": body, "more_body": False})

    async def fail(self, error: Exception) -> None:
        if self.is_complete:
            return
        if self.is_started:
            await self.end()
        elif (outage := outage_of(error)) is None:
            await self.respond(500, b"Server error", (PLAIN,))
        else:
            await self.respond(503, outage.text.encode(), (PLAIN, RETRY_AFTER))

    # --- Silence -------------------------------------------------------------------------------

    def keep_alive(self, seconds: float) -> None:
        """Call `on_silence` whenever nothing has been written for this many seconds."""
        self.written_at = time.monotonic()
        self.wait_for_silence(seconds, seconds)

    def wait_for_silence(self, delay: float, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self.silence_timer = loop.call_later(delay, self.check_silence, seconds)

    def check_silence(self, seconds: float) -> None:
        if self.is_complete or self.is_gone:
            return
        left = self.written_at + seconds - time.monotonic()
        if left <= 0:
            self.heartbeat_task = asyncio.ensure_future(self.on_silence())
            left = seconds
        self.wait_for_silence(left, seconds)

    async def on_silence(self) -> None:
        await self.write(HEARTBEAT)


class DoorConsumer(HttpConsumer):
    """The base class of an API's endpoints. Subclasses implement `answer` and `error_body`."""

    methods: ClassVar[tuple[str, ...]] = ("GET", "HEAD")
    finishes_answers: ClassVar[bool] = False
    """True if requests continue answers in progress, so that they are accepted while the site is
    read-only.
    """
    spent_budget_status: ClassVar[int | None] = None
    """The status code for a spent budget, if the API's clients would retry after 429."""
    headers: tuple[Header, ...] = ()
    """The headers of every response, including errors."""

    async def handle(self) -> None:
        try:
            if self.scope["method"] not in self.methods:
                await self.refuse_method()
                return
            if self.scope["method"] not in READING and not self.finishes_answers:
                await read_only.check()
            await self.answer()
        except Exception as error:  # noqa: BLE001 - no caller handles errors; `failure` logs them
            if self.is_denial(error):
                self.note_denial()
            await self.send_error(error)

    async def answer(self) -> None:
        raise NotImplementedError

    def error_body(self, found: RunFailure) -> dict[str, Any]:
        raise NotImplementedError

    @property
    def passed_on(self) -> frozenset[int]:
        """Return the status codes from model services that clients receive unchanged."""
        return WITH_LIMITS

    @property
    def slug(self) -> str:
        """Return the application's slug in the URL, or "" if the URL has none."""
        return str(self.scope["url_route"]["kwargs"].get("slug", ""))

    # --- Errors --------------------------------------------------------------------------------

    def is_denial(self, error: Exception) -> bool:
        """Return True if the error must be recorded in the audit log."""
        return isinstance(error, DENIALS)

    def note_denial(self) -> None:
        note_denial(self.scope, type(self).__name__, self.slug)

    async def send_error(self, error: Exception) -> None:
        found = failure(error, self.passed_on)
        if self.is_started:
            await self.fail(error)
            return
        await self.send_failure(found, (*failure_headers(found, error), *self.headers))

    async def send_failure(self, found: RunFailure, headers: Iterable[Header] = ()) -> None:
        if self.spent_budget_status and found.code == BudgetSpent.code:
            found = replace(found, status=self.spent_budget_status)
        await self.send_json(found.status, self.error_body(found), headers)

    async def refuse_method(self) -> None:
        allowed = ", ".join(self.methods)
        message = f"The method {self.scope['method']} is not allowed here; use {allowed}."
        await self.send_failure(
            fault(405, message, "method_not_allowed"), [(b"allow", allowed.encode())]
        )

    # --- JSON ----------------------------------------------------------------------------------

    async def send_json(self, status: int, body: Any, headers: Iterable[Header] = ()) -> None:
        await self.respond(status, msgspec.json.encode(body), (*JSON, *headers))
