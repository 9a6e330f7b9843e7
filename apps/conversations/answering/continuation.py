"""Resumes runs after their process has died or a user has answered a question."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from channels.db import database_sync_to_async

from apps import tracing
from apps.accounts.caller import Caller
from apps.agent.events import TurnRestarted
from apps.catalog.access import usable
from apps.catalog.resolved_application import ResolvedApplication, prepare_version
from apps.conversations.access import caller_of_run
from apps.conversations.answering.answers import EarlierOutput, OpenWorkspace, ask_all_due, start
from apps.conversations.asking.folder_content import content_for
from apps.conversations.asking.handovers import of_application
from apps.conversations.asking.questions import StartedAnswer
from apps.conversations.asking.queue import due_messages
from apps.conversations.branches import path
from apps.conversations.client_requests import read_request
from apps.conversations.models import Conversation, Message
from apps.conversations.outcome.endings import end_lost, end_row, gather_transcript
from apps.conversations.outcome.transcript import Transcript
from apps.errors import ApplicationNotFound
from apps.insights.prices import PRICES
from apps.live.consents import read_consents
from apps.live.elicitations import end_lost_questions
from apps.live.events import RunResumed, StatusChanged, StreamEvent
from apps.live.hub import Hub
from apps.live.journal import journal
from apps.live.journal.log import RunLog
from apps.live.models import Run
from apps.live.process.sweeper import Sweeper
from apps.live.step_ledger import read_interactions, read_steps
from apps.live.supervisor import RunOutcome
from apps.runs.workspaces import open_workspace

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ResumedRun:
    """A run that this process resumes, and the data for resuming it."""

    started: StartedAnswer
    application: ResolvedApplication
    caller: Caller
    earlier: EarlierOutput


def sweeper(hub: Hub, workspaces: OpenWorkspace = open_workspace) -> Sweeper:
    return Sweeper(
        hub,
        partial(resume_or_end, workspaces),
        end_lost,
        partial(ask_all_due, workspaces),
        due_messages,
    )


async def resume_or_end(workspaces: OpenWorkspace, hub: Hub, run: Run) -> None:
    """Resume a run whose lease this process holds. If this fails, end the run as failed."""
    with tracing.use_request_id(run.request_id):
        await resume(workspaces, hub, run)


async def resume(workspaces: OpenWorkspace, hub: Hub, run: Run) -> None:
    try:
        resumed: ResumedRun = await database_sync_to_async(prepare_resumption)(run)
    except Exception as error:  # noqa: BLE001 - the error is shown to viewers and logged
        logger.warning("Run %s cannot continue: %s", run.pk, error)
        held = Run.objects.filter(holder=run.holder, status__in=Run.GOING)
        outcome = RunOutcome(Run.Status.FAILED, error)
        await database_sync_to_async(end_row)(run, held, outcome)
        return
    logger.info("Run %s resumes in this process", run.pk)
    start(hub, resumed.started, resumed.application, workspaces, resumed.caller, resumed.earlier)


def prepare_resumption(run: Run) -> ResumedRun:
    """Read the state of a run from the database, and notify its viewers that it is resuming. Raises
    `ApplicationNotFound` if the caller can no longer use the application, and `ApplicationBroken`
    if its manifest is invalid.
    """
    PRICES.refresh()
    conversation = Conversation.objects.get(pk=run.stream)
    caller = caller_of_run(run)
    application = recorded_application(run, conversation, caller)
    transcript = gather_transcript(run)
    earlier = EarlierOutput(transcript, read_steps(run), read_interactions(run))
    events: Sequence[StreamEvent] = (
        *transcript.close_stages(),
        *end_lost_questions(run),
        *((RunResumed(),) if is_interrupted(transcript) else ()),
        StatusChanged(run.status),
        # Without recorded steps, the run starts over, and viewers must discard the text so far.
        *((TurnRestarted(),) if transcript.has_started and not earlier.steps else ()),
    )
    before = journal.add(run.stream, run.pk, events, gap=journal.GAP)
    for event in events:
        transcript.apply(event)
    log = RunLog(run.stream, run.pk, before + 1, events)
    question = Message.objects.get(run=run, role=Message.Role.USER)
    messages = path(conversation, question.pk)
    slug = (question.place or {}).get("slug", "")
    place = application.predefined.places.get(slug)  # An operator may have removed the place.
    started = StartedAnswer(
        conversation,
        run,
        tuple(of_application(conversation, messages, application)),
        log,
        read_consents(run),
        place=place,
        folder=content_for(conversation, application.manifest.input_attachment_types),
        request=read_request(run, application),
    )
    return ResumedRun(started, application, caller, earlier)


def is_interrupted(transcript: Transcript) -> bool:
    """Return True if the answer was being written when the run's process died, and False if the run
    was waiting for a user.
    """
    return transcript.has_started and transcript.status != Run.Status.WAITING


def recorded_application(
    run: Run, conversation: Conversation, caller: Caller
) -> ResolvedApplication:
    """Return the application with the manifest that it had when the run started. Raises
    `ApplicationNotFound` if the caller can no longer use the application.
    """
    row = usable(caller).filter(conversations=conversation).first()
    if row is None:
        raise ApplicationNotFound(run.application)
    PRICES.refresh()  # This may be the first answer in this process.
    if run.manifest is not None:
        row.manifest = run.manifest.document
    return prepare_version(row, run.application_number or row.live_number)
