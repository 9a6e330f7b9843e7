"""One answer: written by a run that needs no viewers, stored at its end."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings
from django.utils import translation

from apps.accounts.caller import Caller
from apps.agent.events import Emit
from apps.agent.ledger import Interaction, Step
from apps.agent.progress import Progress
from apps.catalog.resolved_application import ResolvedApplication
from apps.chat import interruptions, queue
from apps.chat.access import person_stream
from apps.chat.answer_recorder import AnswerRecorder
from apps.chat.answer_requests import meter_of, request_of
from apps.chat.audit_events import event_of, question_events
from apps.chat.chosen_models import answering
from apps.chat.context_use import update_context
from apps.chat.endings import conclude
from apps.chat.folders import folder_of
from apps.chat.frames import Ask
from apps.chat.languages import accepted_language, language_of_kept
from apps.chat.mirror import mirror_aside
from apps.chat.models import QueuedMessage
from apps.chat.pinned_versions import find_for
from apps.chat.questions import Begun, begin
from apps.chat.summaries import write_ahead
from apps.chat.titles import begin_title
from apps.chat.transcript import Transcript
from apps.chat.unattended import CappedMeter, Spending, Unattended
from apps.errors import QuickAppError, Refused
from apps.insights.answer_figures import FiguresMeter
from apps.live.commits import Ending
from apps.live.hub import Hub
from apps.live.models import Run
from apps.live.notifications import announce_waiting, wake_viewers
from apps.live.rates import admit, rates_of, spend
from apps.live.summaries import usage_of_steps
from apps.live.supervisor import RunOutcome, RunSupervisor
from apps.runs.error_texts import error_text
from apps.runs.run import run
from apps.workspace.port import Workspace

logger = logging.getLogger(__name__)

OpenWorkspace = Callable[[Caller], Workspace]

LATER = frozenset({"run_going", "too_many_runs", "not_queued"})
"""Refusals after which a queued message is asked at another time, or by another process."""


async def ask(
    hub: Hub,
    caller: Caller,
    application: ResolvedApplication,
    open_workspace: OpenWorkspace,
    sent: Ask,
) -> Begun:
    """Take a question and start its answer. Raises `Refused`."""

    async def begin_and_start() -> Begun:
        sender = replace(caller, timezone=sent.timezone, surface=sent.surface)
        begun = await take_place(
            hub, open_workspace, application, sender, partial(begin, caller, application, sent)
        )
        is_first = sent.conversation is None
        hub.summaries.keep_audit(*question_events(begun, caller, is_first=is_first))
        return begun

    # Once the question is stored, its answer starts even if the page is gone by then.
    return await asyncio.shield(hub.hold(begin_and_start()))


async def take_place(
    hub: Hub,
    open_workspace: OpenWorkspace,
    application: ResolvedApplication,
    caller: Caller,
    begin: Callable[[str], Begun],
) -> Begun:
    """Begin an answer in this process, or queue it without a holder where there is no place."""
    with hub.places.reserved(1) as room:
        begun: Begun = await database_sync_to_async(begin)(hub.name if room else "")
        # Files that the answer makes are put beside the uploads, and deleted with them.
        asking = replace(caller, folder=folder_of(begun.conversation.pk))
        start(hub, begun, application, open_workspace, asking)
    if begun.run.status == Run.Status.QUEUED:
        hub.hold(tell_of_queued(hub, begun.run))
    return begun


async def tell_of_queued(hub: Hub, run: Run) -> None:
    """Show it to its viewers, and have the processes look whether one has room."""
    hub.has_queue = True
    hub.awaited.set()
    await wake_viewers(hub, run.stream)
    await wake_viewers(hub, person_stream(run.bucket))
    await announce_waiting()


async def ask_or_queue(
    hub: Hub,
    caller: Caller,
    application: ResolvedApplication,
    open_workspace: OpenWorkspace,
    sent: Ask,
) -> Begun | QueuedMessage:
    """Ask, or let the message wait where it says so. Raises `Refused`, `RateLimitReached`."""
    rates = rates_of(caller, application)
    if rates and not await database_sync_to_async(queue.was_taken)(caller, sent.id):
        await admit(rates)
    conversation = sent.conversation
    # What begins another branch is about the path as it is shown, not about one that grows.
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
    # The answer may have ended meanwhile.
    await ask_next(hub, open_workspace, conversation)
    await wake_viewers(hub, person_stream(caller.bucket))
    return queued


async def ask_next(hub: Hub, open_workspace: OpenWorkspace, conversation: UUID) -> None:
    """Ask the next message of a queue, unless an answer is going there."""
    if not hub.is_closing:  # else another process does
        # Once it is a question, its answer starts even if whoever caused that is gone by then.
        await asyncio.shield(hub.hold(ask_due(hub, open_workspace, conversation)))


async def ask_due(hub: Hub, open_workspace: OpenWorkspace, conversation: UUID) -> None:
    row: QueuedMessage | None = await database_sync_to_async(queue.next_of)(conversation)
    if row is None:
        return
    try:
        caller: Caller = await database_sync_to_async(queue.caller_of)(row)
        application = await find_for(row.conversation.application_slug, caller, conversation)
        begin_queued = partial(queue.begin, caller, application, row.pk)
        begun = await take_place(hub, open_workspace, application, caller, begin_queued)
        hub.summaries.keep_audit(*question_events(begun, caller))
    except QuickAppError as error:
        if error.code not in LATER:
            with translation.override(language_of_kept(row.caller)):
                problem = error_text(error)
            await database_sync_to_async(queue.hold_refused)(row, problem)
            await wake_viewers(hub, person_stream(row.conversation.owner))


async def ask_all_due(open_workspace: OpenWorkspace, hub: Hub) -> None:
    """Ask the messages whose turn has come, where the process that should have done it is gone."""
    for conversation in await database_sync_to_async(queue.due_conversations)():
        await ask_next(hub, open_workspace, conversation)


@dataclass(frozen=True, slots=True)
class Past:
    """What a run has said, done and asked before, in another process."""

    transcript: Transcript = field(default_factory=Transcript)
    steps: Sequence[Step] = ()
    interactions: Sequence[Interaction] = ()


def start(
    hub: Hub,
    begun: Begun,
    application: ResolvedApplication,
    open_workspace: OpenWorkspace,
    caller: Caller,
    past: Past | None = None,
) -> None:
    """Let a task of the process write the answer; it goes on when the viewers leave.

    After it, the next message of the queue is asked.
    """
    if begun.log is None:
        return
    past = past or Past()
    row = begun.run
    transcript = past.transcript
    features = application.manifest.features
    told = None if features is None else features.answer_figures
    transcript.note_application(application.number, told)
    progress = Progress()
    concluded: list[RunOutcome] = []  # none of a run that only parks

    def end(outcome: RunOutcome) -> Ending:
        concluded.append(outcome)
        return conclude(begun.run, transcript, progress, outcome)

    before = (past.steps, past.interactions, begun.consents)
    supervisor = RunSupervisor(hub, begun.log, end, *before)
    recorder = AnswerRecorder(supervisor.record, transcript)
    emit: Emit = recorder.emit
    meter = meter_of(hub, row, caller)
    progress.meter = FiguresMeter(meter, recorder.count)
    unattended = Unattended.read(row.unattended)
    if unattended is not None:
        spent = usage_of_steps(past.steps)
        progress.meter = CappedMeter(progress.meter, Spending(unattended, transcript, spent))
        supervisor.ledger.patient, emit = unattended.patient, unattended.emitting(emit)
    caller = replace(caller, is_remembered=begun.conversation.has_memory)
    request = request_of(begun, application, caller)
    workspace = open_workspace(caller)

    async def work() -> str | None:
        with translation.override(accepted_language(caller.locale)):  # of what is emitted here
            chosen = await answering(application, begun.model, workspace, emit)
        asked = (chosen, request, workspace, caller)
        try:
            return (await run(*asked, emit, supervisor.ledger, progress)).reason
        finally:
            spend(rates_of(caller, application), progress.usage)

    person = person_stream(begun.run.bucket)

    async def follow_up() -> None:
        await asyncio.wait([kept])
        if concluded:
            hub.summaries.keep_audit(event_of("message.received", begun, caller))
        if transcript.finish_reason and not hub.is_closing:
            await summarise_ahead(row, progress)
        await ask_following(hub, open_workspace, row.stream)
        await wake_viewers(hub, person)
        await mirror_aside(row.stream)

    # What models read is English, whatever language the person's pages are in.
    with translation.override(settings.LANGUAGE_CODE):
        kept = supervisor.start(work())
        hub.hold(wake_viewers(hub, person))
        begin_title(hub, begun, application, workspace, caller, meter)
        hub.hold(follow_up())


async def summarise_ahead(row: Run, progress: Progress) -> None:
    """Write the summary that the next question may need, and tell how full the window is then.

    The next question is asked without it if it cannot be written.
    """
    try:
        if await write_ahead(row.stream, progress):
            await database_sync_to_async(update_context)(row, progress)
    except Exception:
        logger.exception("The summary after run %s could not be written", row.pk)


async def ask_following(hub: Hub, open_workspace: OpenWorkspace, conversation: UUID) -> None:
    try:
        await ask_next(hub, open_workspace, conversation)
    except Exception:
        logger.exception("The next message could not be asked; the sweeper tries again")
