"""Serves `POST /v1/responses`. The response is streamed, sent as one object, or generated in the
background.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

import msgspec
from channels.db import database_sync_to_async

from apps.accounts.caller import Caller, ClientInfo, Credentials
from apps.agent.events import Emit, Event
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.answering.answers import store_and_start
from apps.conversations.asking.audit_events import event_of, question_events
from apps.conversations.asking.client_questions import ClientQuestion
from apps.conversations.asking.questions import StartedAnswer
from apps.conversations.outcome.transcript import Transcript
from apps.doors.bodies import invalid
from apps.doors.client_conversation import Object
from apps.doors.consumer import JSON
from apps.doors.dialect import Dialect, Encoder, ParsedRequest, WholeEncoder
from apps.doors.run_consumer import OpenWorkspace, RunConsumer
from apps.doors.run_slots import AdmittedRun, Recorded
from apps.errors import Refused, ServerStopping
from apps.live.doors import RESPONSES
from apps.live.hub import HUB, Hub
from apps.live.limits.quotas import RunSlots
from apps.responses.dialect import ParsedResponse, ResponsesDialect, needs_stored, parse_response
from apps.responses.encoder import ResponseEncoder, WholeResponse
from apps.responses.following import send_events
from apps.responses.history import Context, load_stored
from apps.responses.models import StoredResponse
from apps.responses.requests import NOT_STORED
from apps.responses.storage import ResponseBusy, begin_response, read_resource, store_response
from apps.responses.stored_items import shown_question, stored_input
from apps.runs.asking_ledger import find_token
from apps.runs.explanations import error_text
from apps.runs.requests import RunRequest
from apps.runs.workspaces import open_workspace

Events = AsyncGenerator[list[Event], None]


@dataclass(frozen=True, slots=True)
class RequestToStore:
    """A request whose response will be stored."""

    asked: ParsedResponse
    context: Context
    """The stored conversation before the request."""
    items: list[Object]
    """The request's input in the stored format."""

    def question(self, run: AdmittedRun) -> ClientQuestion:
        caller = run.caller
        text, attachments = shown_question(self.asked.messages)
        return ClientQuestion(
            replace(caller, client=ClientInfo(caller.client.locale), credentials=Credentials()),
            run.application,
            RESPONSES,
            run.request,
            text,
            attachments,
            self.context.after,
            self.context.conversation,
            self.asked.echo.id,
        )


@dataclass(frozen=True, slots=True)
class AnswerToStore:
    """A foreground response that is stored when it ends."""

    request: RequestToStore
    question: ClientQuestion
    transcript: Transcript = field(default_factory=Transcript)


class ResponseConsumer(RunConsumer):
    route = "/v1/responses"
    dialect: Dialect = ResponsesDialect()
    spent_budget_status = 403

    def __init__(
        self,
        open_workspace: OpenWorkspace = open_workspace,
        recorded: Recorded = HUB.summaries.recorded,
        slots: RunSlots = HUB.slots,
        hub: Hub = HUB,
    ) -> None:
        super().__init__(open_workspace, recorded, slots)
        self.hub = hub
        self.context: Context | None = None
        self.to_store: RequestToStore | None = None
        self.unstored: AnswerToStore | None = None

    # --- Requests ------------------------------------------------------------------------------

    async def complete(
        self, asked: ParsedRequest, caller: Caller, application: ResolvedApplication
    ) -> ParsedRequest:
        parsed = cast(ParsedResponse, asked)
        request = parsed.request
        if caller.kind != "key" or not application.is_ours:
            self.check_stateless(parsed)
            return asked
        is_stored, context = request.store is not False, Context()
        if needs_stored(request):
            request, context = await database_sync_to_async(load_stored)(caller, request)
        elif not is_stored:
            return asked
        self.context = context
        parsed = parse_response(
            request, parsed.unknown, context.items, context.conversation if is_stored else None
        )
        if is_stored:
            items = stored_input(parsed.echo.id, request.input or [])
            self.to_store = RequestToStore(parsed, context, items)
        return parsed

    def check_stateless(self, asked: ParsedResponse) -> None:
        """Raise `BadRequest` if the request needs stored data, because nothing is stored for this
        caller.
        """
        request = asked.request
        for name in ("previous_response_id", "conversation"):
            if getattr(request, name) is not None:
                raise invalid(name, NOT_STORED)
        if request.background:
            raise invalid("background", NOT_STORED)
        if needs_stored(request):
            raise invalid(
                "input", "Items are not stored for this request. Send the items themselves."
            )

    def begin(
        self, asked: ParsedRequest, run: AdmittedRun
    ) -> tuple[Events, Callable[[Events], Awaitable[None]]]:
        if (stored := self.to_store) is not None:
            question = stored.question(run)
            if stored.asked.request.background:
                check_background(run.request)
                return no_events(), partial(self.send_background, stored, question)
            self.unstored = AnswerToStore(stored, question)
        return super().begin(asked, run)

    # --- In the foreground ---------------------------------------------------------------------

    async def run(self, run: AdmittedRun, emit: Emit) -> None:
        unstored = self.unstored
        if unstored is None:
            await super().run(run, emit)
            return

        def record(event: Event) -> None:
            unstored.transcript.apply(event)
            emit(event)

        await super().run(run, record)

    async def complete_answer(self, encoder: Encoder | WholeEncoder) -> None:
        # The client may continue the conversation as soon as it has read the end.
        if (unstored := self.unstored) is None:
            return
        request, question = unstored.request, unstored.question
        begun = await database_sync_to_async(store_response)(
            question,
            request.context.entries,
            request.items,
            request.asked.echo,
            unstored.transcript,
            cast(ResponseEncoder | WholeResponse, encoder).last,
        )
        self.note(begun, question.caller)
        self.hub.summaries.queue_audit(event_of("message.received", begun, question.caller))

    # --- In the background ---------------------------------------------------------------------

    async def send_background(
        self, sent: RequestToStore, question: ClientQuestion, events: Events
    ) -> None:
        # Once the question is stored, its answer must start, even if the client disconnects.
        begun = await asyncio.shield(self.hub.hold(self.start_background(sent, question)))
        stored = await StoredResponse.objects.select_related("run").aget(pk=begun.run.pk)
        if not sent.asked.is_streamed:
            resource = await database_sync_to_async(read_resource)(stored)
            await self.respond(200, msgspec.json.encode(resource), (*JSON, *self.headers))
            return
        await send_events(self, question.caller, self.hub, stored, headers=self.headers)

    async def start_background(
        self, stored: RequestToStore, question: ClientQuestion
    ) -> StartedAnswer:
        """Start a background response. Raises `BudgetSpent` if a budget is spent, `ResponseBusy` if
        the conversation has an answer in progress, or `ServerStopping` if the process is stopping.
        """
        if self.hub.is_closing:
            raise ServerStopping
        begin = partial(
            begin_response, question, stored.context.entries, stored.items, stored.asked.echo
        )
        try:
            begun = await store_and_start(
                self.hub,
                lambda caller: self.open_workspace(caller, question.application),
                question.application,
                question.caller,
                begin,
            )
        except Refused as error:
            raise ResponseBusy(error_text(error), error.http_status) from error
        self.note(begun, question.caller)
        return begun

    def note(self, begun: StartedAnswer, caller: Caller) -> None:
        """Record a stored question in the audit log."""
        is_first = self.context is None or self.context.after is None
        self.hub.summaries.queue_audit(*question_events(begun, caller, is_first=is_first))


def check_background(request: RunRequest) -> None:
    """Raise `BadRequest` if the request answers a question from a foreground response, whose run
    cannot continue in the background.
    """
    if find_token(request.messages) is not None:
        raise invalid(
            "background",
            "The last response is waiting for an approval or an answer. Leave 'background' out.",
        )


async def no_events() -> AsyncGenerator[list[Event], None]:
    batches: list[list[Event]] = []
    for batch in batches:
        yield batch
