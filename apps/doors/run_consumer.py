"""Defines the base class of endpoints that run an application. It parses the request, runs the
application and encodes the response.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from django.conf import settings
from opentelemetry.trace import SpanKind

from apps import tracing
from apps.accounts.caller import Caller
from apps.agent.events import Emit, Event, NoticeAdded, RunFinished
from apps.agent.streams import stream
from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.admission import visit
from apps.doors.answer_headers import rate_headers
from apps.doors.bodies import invalid
from apps.doors.client_parameters import ignored_header, unsupported_parameters
from apps.doors.consumer import DoorConsumer
from apps.doors.dialect import Dialect, Encoder, ParsedRequest, WholeEncoder
from apps.doors.run_slots import AdmittedRun, Recorded, answer_request, run_slot
from apps.errors import ServerStopping
from apps.live.hub import HUB
from apps.live.limits.quotas import Rate, RunSlots, admit_request, rates_of
from apps.runs.failures import TOO_MANY, RunFailure, failure
from apps.runs.workspaces import open_workspace
from apps.workspace.port import Workspace

Events = AsyncGenerator[list[Event], None]
OpenWorkspace = Callable[[Caller, ResolvedApplication], Workspace]
logger = logging.getLogger(__name__)

FAREWELL_SECONDS = 4.0
"""Interrupted runs have this many seconds to release their tools and to send an error to their
clients.
"""


class RunConsumer(DoorConsumer):
    """Answers a request with a stream or a complete response, in the client's dialect. `route` is
    the name of the endpoint in traces.
    """

    methods = ("POST",)
    route: ClassVar[str]
    dialect: Dialect
    dialects: ClassVar[Mapping[str, Dialect]] = {}
    """The dialects for kinds of callers that do not use `dialect`."""

    def __init__(
        self,
        open_workspace: OpenWorkspace = open_workspace,
        recorded: Recorded = HUB.summaries.recorded,
        slots: RunSlots = HUB.slots,
    ) -> None:
        super().__init__()
        self.slots = slots
        self.open_workspace = open_workspace
        self.recorded = recorded
        self.encoder: Encoder | None = None
        self.rates: Sequence[Rate] = ()
        self.narrative = ""

    async def answer(self) -> None:
        parent = tracing.received_context(self.scope["headers"])
        attributes = {"http.request.method": "POST", "http.route": self.route}
        with tracing.span(f"POST {self.route}", attributes, SpanKind.SERVER, parent):
            events, send = await self.read()
            async with OPEN_ANSWERS.hold(), aclosing(events):
                await send(events)

    # --- In ------------------------------------------------------------------------------------

    async def read(self) -> tuple[Events, Callable[[Events], Awaitable[None]]]:
        """Read the request. Return the events of its run, and the function that sends them."""
        # The body is freed when this function returns, not at the end of the stream.
        visitor = await visit(self.scope, self.while_connected)
        caller = visitor.caller
        self.dialect = self.dialects.get(caller.kind, self.dialect)
        asked = self.dialect.read(await self.read_body(settings.GATEWAY_MAX_BODY_BYTES))
        name = self.slug or asked.application
        if not (name or visitor.named):
            raise invalid("model", "Send the slug of an application.")
        application = await visitor.find(name)
        asked = await self.complete(asked, caller, application)
        self.rates = rates_of(caller, application)
        rests = await admit_request(self.rates) if self.rates else ()
        self.headers = rate_headers(rests) if rests and TOO_MANY in self.passed_on else ()
        prepared = asked.prepare(application)
        if asked.end_user:
            caller = replace(caller, end_user=asked.end_user)
        workspace = self.open_workspace(caller, application)
        ignored, parameters = prepared.ignored, prepared.request.parameters
        if parameters:
            ignored |= await unsupported_parameters(parameters, application, workspace)
        if ignored:
            self.headers += ignored_header(ignored)
        self.narrative = prepared.narrative
        door, request = self.dialect.door, prepared.request
        run = AdmittedRun(door, application, request, workspace, caller, self.rates)
        return self.begin(asked, run)

    async def complete(
        self, asked: ParsedRequest, caller: Caller, application: ResolvedApplication
    ) -> ParsedRequest:
        """Add the conversation's stored earlier messages, if any, to the request. Subclasses with
        stored conversations override this. Raises `BadRequest` if the conversation is invalid.
        """
        return asked

    def begin(
        self, asked: ParsedRequest, run: AdmittedRun
    ) -> tuple[Events, Callable[[Events], Awaitable[None]]]:
        """Return the events of the run, and the function that sends them to the client."""
        events, slug = stream(partial(self.run, run)), run.application.slug
        if asked.is_streamed:
            return events, partial(self.send_stream, encoder=asked.encoder(slug))
        return events, partial(self.send_whole, encoder=asked.whole(slug))

    async def run(self, run: AdmittedRun, emit: Emit) -> None:
        async with run_slot(run, self.slots, self.recorded) as progress:
            if self.narrative:
                emit(NoticeAdded("narrative", self.narrative))
            await answer_request(run, emit, progress)

    # --- Out -----------------------------------------------------------------------------------

    async def send_whole(self, events: Events, encoder: WholeEncoder) -> None:
        async for batch in events:
            encoder.feed(batch)
        await self.complete_answer(encoder)
        await self.respond(200, encoder.body(), (*encoder.headers, *self.headers))

    async def send_stream(self, events: Events, encoder: Encoder) -> None:
        """Send the run's events as frames. The response starts with the first frame, so that
        earlier errors have an HTTP status.
        """
        self.encoder = encoder
        self.keep_alive(settings.HEARTBEAT_SECONDS)
        rest = b""
        async for batch in events:
            frames = encoder.encode(batch)
            if not self.is_started:
                if not frames:
                    continue
                frames = await self.open_stream(encoder) + frames
            if not encoder.sends_end_separately and isinstance(batch[-1], RunFinished):
                rest = frames  # The remaining frames are sent in one write with the end.
            elif frames:
                await self.write(frames)
        await self.complete_answer(encoder)
        await self.end(rest + encoder.end())

    async def complete_answer(self, encoder: Encoder | WholeEncoder) -> None:
        """Finish the work that must be complete before the client receives the end of the response.
        Subclasses override this.
        """

    async def open_stream(self, encoder: Encoder) -> bytes:
        await self.start(200, (*encoder.headers, *self.headers))
        return encoder.opening()

    async def on_silence(self) -> None:
        # Proxies close connections to a silent server. So if a run starts slowly, a heartbeat
        # starts the response, and later errors have no HTTP status.
        if self.encoder is None:
            await super().on_silence()
        elif self.is_started:
            await self.write(self.encoder.heartbeat)
        else:
            await self.write(await self.open_stream(self.encoder))

    # --- Errors --------------------------------------------------------------------------------

    @property
    def passed_on(self) -> frozenset[int]:
        return self.dialect.passed_on

    def error_body(self, found: RunFailure) -> dict[str, Any]:
        return self.dialect.error_body(found)

    async def send_error(self, error: Exception) -> None:
        if self.encoder is None or not self.is_started:
            await super().send_error(error)
            return
        body = self.error_body(failure(error, self.passed_on))
        await self.write(self.encoder.error(body))
        await self.end(self.encoder.end())


class OpenAnswers:
    """Tracks the answers in progress in this process, and interrupts them when the process stops."""

    def __init__(self) -> None:
        self.deadlines: set[asyncio.Timeout] = set()
        self.left = asyncio.Event()

    def hold(self) -> AbstractAsyncContextManager[None]:
        """Return a context manager for an answer in progress. It raises `ServerStopping` if the
        process stops during the block.
        """
        return OpenAnswer(self)

    async def end(self, seconds: float) -> None:
        """Wait up to `seconds` for answers in progress. Then interrupt the remaining answers, and
        wait until they have ended.
        """
        await self.wait_for_end(seconds)
        if self.deadlines:
            logger.warning(
                "Interrupting %d answers: the server is shutting down", len(self.deadlines)
            )
        now = asyncio.get_running_loop().time()
        for deadline in list(self.deadlines):
            deadline.reschedule(now)
        await self.wait_for_end(FAREWELL_SECONDS)

    async def wait_for_end(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.deadlines:
                    self.left = asyncio.Event()
                    await self.left.wait()


class OpenAnswer:
    # Not a generator, because each waiting stream would have one.
    __slots__ = ("answers", "deadline")

    def __init__(self, answers: OpenAnswers) -> None:
        self.answers = answers
        self.deadline = asyncio.timeout(None)

    async def __aenter__(self) -> None:
        self.answers.deadlines.add(self.deadline)
        await self.deadline.__aenter__()

    async def __aexit__(self, *raised: Any) -> None:
        try:
            await self.deadline.__aexit__(*raised)
        except TimeoutError as error:
            raise ServerStopping from error
        finally:
            self.answers.deadlines.discard(self.deadline)
            self.answers.left.set()


OPEN_ANSWERS = OpenAnswers()
"""The answers in progress in this process."""
