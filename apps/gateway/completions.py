"""The consumer of `POST …/chat/completions`: read, resolve, run, encode."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from dataclasses import replace
from functools import partial

from django.conf import settings
from opentelemetry.trace import SpanKind

from apps import tracing
from apps.accounts.caller import Caller
from apps.agent.events import Emit, Event, Finished, Noticed
from apps.agent.progress import Progress
from apps.agent.streams import stream
from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.admission import visit
from apps.doors.consumer import EVENT_STREAM, HEARTBEAT, Header
from apps.doors.key_watch import while_valid
from apps.doors.rate_headers import headers_of
from apps.gateway import dial_dialect, openai_dialect
from apps.gateway.base import GatewayConsumer, ManyChoices, answer_of
from apps.gateway.body import Completion
from apps.gateway.chat_requests import PreparedRun
from apps.gateway.openai_dialect import ignored_header, with_unsupported
from apps.gateway.wire import DONE, ChunkEncoder, error_frame
from apps.live.answered_calls import claim
from apps.live.hub import HUB
from apps.live.places import Places
from apps.live.rates import Rate, admit, rates_of, spend
from apps.live.run_summary import RunSummary
from apps.live.summaries import RunFigures
from apps.runs.next_message import take_answer
from apps.runs.run import run
from apps.workspace.port import Workspace

Events = AsyncGenerator[list[Event], None]
ROUTE = "/openai/deployments/{slug}/chat/completions"
ATTRIBUTES = {"http.request.method": "POST", "http.route": ROUTE}
OpenWorkspace = Callable[[Caller, ResolvedApplication], Workspace]
Recorded = Callable[[RunFigures], AbstractContextManager[Progress]]
"""Surrounds a run, keeps its row, and gives the progress that it is to count in."""


def unrecorded(row: RunFigures) -> AbstractContextManager[Progress]:
    return nullcontext(Progress())


class CompletionConsumer(GatewayConsumer):
    """One completion, streamed or whole."""

    methods = ("POST",)

    def __init__(
        self,
        open_workspace: OpenWorkspace,
        recorded: Recorded = unrecorded,
        places: Places = HUB.places,
    ) -> None:
        super().__init__()
        self.places = places
        self.open_workspace = open_workspace
        self.recorded = recorded
        self.encoder: ChunkEncoder | None = None
        self.is_for_core = False
        self.headers: tuple[Header, ...] = ()
        self.rates: Sequence[Rate] = ()

    async def answer(self) -> None:
        parent = tracing.received(self.scope["headers"])
        with tracing.span(f"POST {ROUTE}", ATTRIBUTES, SpanKind.SERVER, parent):
            await self.complete()

    async def complete(self) -> None:
        events, slug, is_streamed = await self.read()
        async with aclosing(events):
            if is_streamed:
                await self.send_stream(events, slug)
            else:
                await self.send_completion(events, slug)

    async def read(self) -> tuple[Events, str, bool]:
        """The events of the run, the application's slug, and whether the answer is streamed."""
        # The body does not outlive this function: a stream would hold it to its end.
        visitor = await visit(self.scope, self.while_connected)
        self.is_for_core = visitor.caller.kind == "dial"
        body = await self.read_body(settings.GATEWAY_MAX_BODY_BYTES)
        dialect = dial_dialect if self.is_for_core else openai_dialect
        asked, prepare = dialect.read(body)
        application = await visitor.find(self.slug or asked.model or "")
        if asked.n is not None and asked.n > 1:
            raise ManyChoices(application.slug)
        self.rates = rates_of(visitor.caller, application)
        rests = await admit(self.rates) if self.rates else ()
        self.headers = headers_of(rests) if rests and not self.is_for_core else ()
        prepared = prepare(application)
        caller = visitor.caller
        if asked.end_user:
            caller = replace(caller, end_user=asked.end_user)
        workspace = self.open_workspace(caller, application)
        prepared = await with_unsupported(prepared, application, workspace)
        self.headers += ignored_header(prepared.ignored)
        events = stream(partial(self.run, application, prepared, workspace, caller))
        return events, application.slug, bool(asked.stream)

    async def run(
        self,
        application: ResolvedApplication,
        prepared: PreparedRun,
        workspace: Workspace,
        caller: Caller,
        emit: Emit,
    ) -> None:
        door = RunSummary.Door.CORE if self.is_for_core else RunSummary.Door.GATEWAY
        figures = RunFigures(door, application.slug, caller.bucket, caller.team)
        who = (caller.bucket, application.slug)
        with self.places.taken(*who):
            async with self.places.among_processes(*who):
                with self.recorded(figures) as progress:
                    if prepared.narrative:
                        emit(Noticed("narrative", prepared.narrative))
                    request = prepared.request
                    asked, ledger = await take_answer(request, application, caller, claim)
                    try:
                        async with while_valid(caller):
                            await run(application, asked, workspace, caller, emit, ledger, progress)
                    finally:
                        if self.rates:
                            spend(self.rates, progress.usage)

    async def send_completion(self, events: Events, slug: str) -> None:
        completion = Completion(for_core=self.is_for_core)
        async for batch in events:
            completion.feed(batch)
        await self.send_json(200, completion.to_dict(slug), self.headers)

    async def send_stream(self, events: Events, slug: str) -> None:
        """Send the frames of the run; the head goes with the first one, as errors before have a
        status."""
        encoder = self.encoder = ChunkEncoder(slug, for_core=self.is_for_core)
        self.keep_alive(settings.HEARTBEAT_SECONDS)
        rest = b""
        async for batch in events:
            frames = encoder.encode(batch)
            if not self.is_started:
                if not frames:
                    continue
                frames = await self.open_stream(encoder) + frames
            if not self.is_for_core and isinstance(batch[-1], Finished):
                # The end of the answer and `[DONE]` leave in one write, but not for Core, which
                # holds back what comes with `[DONE]` until it has accounted for the answer.
                rest = frames
            elif frames:
                await self.write(frames)
        await self.end(rest + DONE)

    async def open_stream(self, encoder: ChunkEncoder) -> bytes:
        await self.start(200, (*EVENT_STREAM, *self.headers))
        return encoder.opening()

    async def on_silence(self) -> None:
        # Proxies give up on a silent server, so a slow start costs the status of its errors.
        if self.is_started or self.encoder is None:
            await self.write(HEARTBEAT)
        else:
            await self.write(await self.open_stream(self.encoder))

    async def send_error(self, error: Exception) -> None:
        status, body, headers = answer_of(error, for_core=self.is_for_core)
        if not self.is_for_core:  # OpenAI's clients show the message and nothing else
            body["error"]["message"] = body["error"]["display_message"]
        if not self.is_started or self.encoder is None:
            await self.send_json(status, body, (*headers, *self.headers))
            return
        await self.write(self.encoder.rest() + error_frame(body))
        await self.end(DONE)
