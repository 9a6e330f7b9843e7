"""Starts answers. A background task in this process writes each answer, even if no page shows it,
and stores it at the end.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings
from django.utils import translation

from apps import tracing
from apps.accounts.caller import Caller
from apps.accounts.languages import accepted_language, language_of_stored_caller
from apps.agent.events import Emit
from apps.agent.ledger import InteractionRequest, Step
from apps.agent.progress import Progress
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.access import person_stream
from apps.conversations.answering.answer_recorder import AnswerRecorder
from apps.conversations.answering.requests import meter_of, request_of
from apps.conversations.answering.titles import begin_title
from apps.conversations.answering.unattended import CappedMeter, Spending, UnattendedLimits
from apps.conversations.ask import Ask
from apps.conversations.asking import interruptions, queue
from apps.conversations.asking.audit_events import event_of, question_events
from apps.conversations.asking.chosen_models import answering
from apps.conversations.asking.questions import StartedAnswer, begin_answer
from apps.conversations.asking.tool_switches import with_switches
from apps.conversations.files.folder import folder_of
from apps.conversations.mirror import mirror_aside
from apps.conversations.models import QueuedMessage
from apps.conversations.outcome.context_use import update_context
from apps.conversations.outcome.endings import conclude
from apps.conversations.outcome.summaries import write_ahead
from apps.conversations.outcome.transcript import Transcript
from apps.conversations.pinned_versions import find_for
from apps.errors import QuickAppError, Refused
from apps.insights.answer_figures import FiguresMeter
from apps.live.doors import PAGE
from apps.live.history.run_rows import usage_of_steps
from apps.live.hub import Hub
from apps.live.journal.commits import Ending
from apps.live.journal.log import RunLog
from apps.live.journal.notifications import announce_waiting, wake_viewers
from apps.live.limits.quotas import admit_request, rates_of, spend
from apps.live.models import Run
from apps.live.supervisor import RunOutcome, RunSupervisor
from apps.runs.explanations import error_text
from apps.runs.run import run_application
from apps.workspace.local import read_only
from apps.workspace.port import Workspace

logger = logging.getLogger(__name__)

OpenWorkspace = Callable[[Caller], Workspace]

LATER = frozenset({"run_going", "too_many_runs", "not_queued"})
"""If sending a queued message fails with one of these error codes, the message stays in the queue
and is sent later.
"""


async def ask(
    hub: Hub,
    caller: Caller,
    application: ResolvedApplication,
    open_workspace: OpenWorkspace,
    sent: Ask,
    door: str = PAGE,
) -> StartedAnswer:
    """Store a question and start its answer. Raises `Refused` if the question is rejected, for
    example because an answer is already running.
    """

    async def begin_and_start() -> StartedAnswer:
        sender = caller.at(timezone=sent.timezone, surface=sent.surface)
        started = await store_and_start(
            hub,
            open_workspace,
            application,
            sender,
            partial(begin_answer, caller, application, sent, door=door),
        )
        is_first = sent.conversation is None
        hub.summaries.queue_audit(*question_events(started, caller, is_first=is_first))
        return started

    # Once the question is stored, its answer must start, even if the page disconnects.
    return await asyncio.shield(hub.hold(begin_and_start()))


async def store_and_start(
    hub: Hub,
    open_workspace: OpenWorkspace,
    application: ResolvedApplication,
    caller: Caller,
    begin: Callable[[str], StartedAnswer],
) -> StartedAnswer:
    """Store a question with `begin`, and start its answer. If this process has no free slot, queue
    the run instead. `begin` is called with the name of this process, or "" to queue the run for any
    process.
    """
    with hub.slots.reserve(1) as room:
        started: StartedAnswer = await database_sync_to_async(begin)(hub.name if room else "")
        # The answer's files are stored in the conversation's folder, and are deleted with it.
        asking = replace(caller, folder=folder_of(started.conversation.pk))
        start(hub, started, application, open_workspace, asking)
    if started.run.status == Run.Status.QUEUED:
        hub.hold(announce_queued(hub, started.run))
    return started


async def announce_queued(hub: Hub, run: Run) -> None:
    """Notify the run's viewers that it is queued. Also notify all processes, because one of them
    may have a free slot.
    """
    hub.has_queue = True
    hub.awaited.set()
    await wake_viewers(hub.streams, run.stream)
    await wake_viewers(hub.streams, person_stream(run.bucket))
    await announce_waiting()


async def ask_or_queue(
    hub: Hub,
    caller: Caller,
    application: ResolvedApplication,
    open_workspace: OpenWorkspace,
    sent: Ask,
) -> StartedAnswer | QueuedMessage:
    """Store a question and start its answer.

    If an answer is running, the question is queued, unless `sent.while_running` is `refuse`. Raises
    `Refused` if the question is rejected, and `RateLimitReached` if a rate limit is exceeded.
    """
    rates = rates_of(caller, application)
    if rates and not await database_sync_to_async(queue.was_accepted)(caller, sent.id):
        await admit_request(rates)
    conversation = sent.conversation
    # A question that begins a branch refers to what is shown now, so it cannot wait for other
    # answers.
    if sent.while_running == "refuse" or conversation is None or sent.is_branching:
        return await ask(hub, caller, application, open_workspace, sent)
    if not await database_sync_to_async(queue.has_to_wait)(conversation, sent.id):
        try:
            return await ask(hub, caller, application, open_workspace, sent)
        except Refused as error:
            if error.code != "run_going":
                raise
    queued: QueuedMessage = await database_sync_to_async(queue.add)(caller, application.slug, sent)
    if sent.while_running == "stop":
        await interruptions.interrupt(hub, conversation)
    # The answer may have ended in the meantime.
    await ask_next(hub, open_workspace, conversation)
    await wake_viewers(hub.streams, person_stream(caller.bucket))
    return queued


async def ask_next(hub: Hub, open_workspace: OpenWorkspace, conversation: UUID) -> None:
    """Send the conversation's next queued message, unless an answer is running."""
    # If this process is closing, another process sends the message. If the site is read-only, the
    # sweeper sends the message afterwards.
    if not hub.is_closing and not await read_only.is_on_async():
        # Once the question is stored, its answer must start, even if the calling client
        # disconnects.
        await asyncio.shield(hub.hold(ask_due(hub, open_workspace, conversation)))


async def ask_due(hub: Hub, open_workspace: OpenWorkspace, conversation: UUID) -> None:
    row: QueuedMessage | None = await database_sync_to_async(queue.next_of)(conversation)
    if row is None:
        return
    try:
        caller: Caller = await database_sync_to_async(queue.caller_of)(row)
        application = await find_for(row.conversation.application_slug, caller, conversation)
        begin_queued = partial(queue.begin, caller, application, row.pk)
        started = await store_and_start(hub, open_workspace, application, caller, begin_queued)
        hub.summaries.queue_audit(*question_events(started, caller))
    except QuickAppError as error:
        if error.code not in LATER:
            with translation.override(language_of_stored_caller(row.caller)):
                problem = error_text(error)
            await database_sync_to_async(queue.hold_refused)(row, problem)
            await wake_viewers(hub.streams, person_stream(row.conversation.owner))


async def ask_all_due(open_workspace: OpenWorkspace, hub: Hub) -> None:
    """Send the next message from every queue that is not waiting for an answer. The process that
    should have sent the message may have died.
    """
    for conversation in await database_sync_to_async(queue.due_conversations)():
        await ask_next(hub, open_workspace, conversation)


@dataclass(frozen=True, slots=True)
class EarlierOutput:
    """The output of a run before it was resumed in this process: the answer so far, the completed
    steps, and the questions to the user.
    """

    transcript: Transcript = field(default_factory=Transcript)
    steps: Sequence[Step] = ()
    interactions: Sequence[InteractionRequest] = ()


def start(
    hub: Hub,
    started: StartedAnswer,
    application: ResolvedApplication,
    open_workspace: OpenWorkspace,
    caller: Caller,
    earlier: EarlierOutput | None = None,
) -> None:
    """Start writing the answer in this process, unless its run is queued or was already started.
    `earlier` is the earlier output of a resumed run.
    """
    if started.log is not None:
        how = (hub, started, started.log, application, open_workspace, caller)
        RunningAnswer(*how, earlier or EarlierOutput()).start()


class RunningAnswer:
    """An answer that a background task in this process is writing. When it ends, the conversation's
    next queued message is sent.
    """

    def __init__(
        self,
        hub: Hub,
        started: StartedAnswer,
        log: RunLog,
        application: ResolvedApplication,
        open_workspace: OpenWorkspace,
        caller: Caller,
        earlier: EarlierOutput,
    ) -> None:
        self.hub = hub
        self.started = started
        self.application = application
        self.open_workspace = open_workspace
        self.caller = replace(caller, is_remembered=started.conversation.has_memory)
        self.person = person_stream(started.run.bucket)
        self.transcript = earlier.transcript
        features = application.manifest.features
        told = None if features is None else features.answer_figures
        self.transcript.note_application(application.number, told)
        self.progress = Progress()
        self.is_over = False
        """True if the run has ended. It has not ended if it is waiting for a user, or if another
        process has taken it over.
        """
        before = (earlier.steps, earlier.interactions, started.consents)
        self.supervisor = RunSupervisor(hub, log, self.end, *before)
        recorder = AnswerRecorder(self.supervisor.record, self.transcript)
        self.emit: Emit = recorder.emit
        self.meter = meter_of(hub, started.run, caller)
        self.progress.meter = FiguresMeter(self.meter, recorder.count)
        unattended = UnattendedLimits.read(started.run.unattended)
        if unattended is not None:
            self.limit(unattended, earlier.steps)
        self.request = request_of(started, application, self.caller)
        self.workspace = open_workspace(self.caller)

    def limit(self, unattended: UnattendedLimits, before: Sequence[Step]) -> None:
        """Apply the budget and the question timeout for a run that no user started. `before`
        contains the steps that the run has already completed, whose costs count toward the budget.
        """
        spending = Spending(unattended, self.transcript, usage_of_steps(before))
        self.progress.meter = CappedMeter(self.progress.meter, spending)
        self.supervisor.ledger.adjust_timeout = unattended.adjust_timeout
        self.emit = unattended.emitting(self.emit)

    def start(self) -> None:
        # Texts for models are in English, regardless of the user's language.
        with (
            translation.override(settings.LANGUAGE_CODE),
            tracing.use_request_id(self.started.run.request_id),
        ):
            stored = self.supervisor.start(self.write())
            self.hub.hold(wake_viewers(self.hub.streams, self.person))
            begin_title(
                self.hub, self.started, self.application, self.workspace, self.caller, self.meter
            )
            self.hub.hold(self.follow_up(stored))

    async def write(self) -> str | None:
        """Write the answer. Return the model's finish reason, or None."""
        model = self.started.model
        with translation.override(
            accepted_language(self.caller.client.locale)
        ):  # For the events that this method emits.
            chosen = await answering(self.application, model, self.workspace, self.emit)
        switched = with_switches(chosen, self.started.conversation.tool_switches)
        asked = (switched, self.request, self.workspace, self.caller)
        try:
            return (
                await run_application(*asked, self.emit, self.supervisor.ledger, self.progress)
            ).reason
        finally:
            spend(rates_of(self.caller, self.application), self.progress.usage)

    def end(self, outcome: RunOutcome) -> Ending:
        self.is_over = True
        return conclude(self.started.run, self.transcript, self.progress, outcome)

    async def follow_up(self, stored: asyncio.Task[None]) -> None:
        """Wait until the answer is stored. Then summarize the conversation for the next question,
        send the next queued message, and update the conversation's file in the mirror.
        """
        await asyncio.wait([stored])
        row = self.started.run
        if self.is_over:
            event = event_of("message.received", self.started, self.caller)
            self.hub.summaries.queue_audit(event)
        is_ours = self.started.request is None  # Summaries never replace a client's messages.
        if self.transcript.finish_reason and is_ours and not self.hub.is_closing:
            await summarise_ahead(row, self.progress)
        await ask_following(self.hub, self.open_workspace, row.stream)
        await wake_viewers(self.hub.streams, self.person)
        await mirror_aside(row.stream)


async def summarise_ahead(row: Run, progress: Progress) -> None:
    """Summarize the conversation if it may be too long for the next question. Store how much of the
    model's context window it then uses. Errors are only logged.
    """
    try:
        if await write_ahead(row.stream, progress):
            await database_sync_to_async(update_context)(row, progress)
    except Exception:
        logger.exception("Could not write the summary after run %s", row.pk)


async def ask_following(hub: Hub, open_workspace: OpenWorkspace, conversation: UUID) -> None:
    try:
        await ask_next(hub, open_workspace, conversation)
    except Exception:
        logger.exception("Could not send the next queued message; the sweeper will retry")
