"""Answers whose process is gone, or that waited for somebody: this process goes on with them."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from channels.db import database_sync_to_async

from apps.accounts.caller import Caller
from apps.agent.events import TurnRestarted
from apps.catalog.access import usable
from apps.catalog.resolved_application import ResolvedApplication, prepare_version
from apps.chat.access import caller_of_run
from apps.chat.answers import OpenWorkspace, Past, ask_all_due, start
from apps.chat.branches import path
from apps.chat.endings import end_lost, end_row, gathered
from apps.chat.folder_content import content_for
from apps.chat.handovers import of_application
from apps.chat.models import Conversation, Message
from apps.chat.questions import Begun
from apps.chat.transcript import Transcript
from apps.errors import ApplicationNotFound
from apps.insights.price_list import PRICES
from apps.live import journal
from apps.live.consents import read_consents
from apps.live.elicitations import end_lost_questions
from apps.live.events import Continued, StatusChanged, StreamEvent
from apps.live.hub import Hub
from apps.live.log import RunLog
from apps.live.models import Run
from apps.live.step_ledger import read_interactions, read_steps
from apps.live.supervisor import RunOutcome
from apps.live.sweeper import Sweeper
from apps.runs.workspaces import open_workspace

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Taken:
    """A run that was taken over, and what it goes on with."""

    begun: Begun
    application: ResolvedApplication
    caller: Caller
    past: Past


def sweeper(hub: Hub, workspaces: OpenWorkspace = open_workspace) -> Sweeper:
    return Sweeper(hub, partial(go_on, workspaces), end_lost, partial(ask_all_due, workspaces))


async def go_on(workspaces: OpenWorkspace, hub: Hub, run: Run) -> None:
    """Go on with a run that this process holds now, or end it as failed."""
    try:
        taken: Taken = await database_sync_to_async(take_up)(run)
    except Exception as error:  # noqa: BLE001 - its viewers are told, and the log
        logger.warning("Run %s cannot go on: %s", run.pk, error)
        held = Run.objects.filter(holder=run.holder, status__in=Run.GOING)
        outcome = RunOutcome(Run.Status.FAILED, error)
        await database_sync_to_async(end_row)(run, held, outcome)
        return
    logger.info("Run %s goes on here", run.pk)
    start(hub, taken.begun, taken.application, workspaces, taken.caller, taken.past)


def take_up(run: Run) -> Taken:
    """Read what the run has come to, and tell its viewers that it goes on.

    Raises `ApplicationNotFound` when the caller may not use the application any more, and
    `ApplicationBroken`.
    """
    PRICES.refresh()
    conversation = Conversation.objects.get(pk=run.stream)
    caller = caller_of_run(run)
    application = kept_application(run, conversation, caller)
    transcript = gathered(run)
    past = Past(transcript, read_steps(run), read_interactions(run))
    events: Sequence[StreamEvent] = (
        *transcript.close_stages(),
        *end_lost_questions(run),
        *((Continued(),) if is_interrupted(transcript) else ()),
        StatusChanged(run.status),
        # Nothing of it is recorded, so it begins anew; else the run tells what stands.
        *((TurnRestarted(),) if transcript.has_begun and not past.steps else ()),
    )
    before = journal.add(run.stream, run.pk, events, gap=journal.GAP)
    for event in events:
        transcript.take(event)
    log = RunLog(run.stream, run.pk, before + 1, events)
    question = Message.objects.get(run=run, role=Message.Role.USER)
    messages = path(conversation, question.pk)
    slug = (question.place or {}).get("slug", "")
    place = application.places.get(slug)  # it may be gone by now
    begun = Begun(
        conversation,
        run,
        tuple(of_application(conversation, messages, application)),
        log,
        read_consents(run),
        place=place,
        folder=content_for(conversation, application.manifest.input_attachment_types),
    )
    return Taken(begun, application, caller, past)


def is_interrupted(transcript: Transcript) -> bool:
    """Whether the run had begun, and did not wait for somebody."""
    return transcript.has_begun and transcript.status != Run.Status.WAITING


def kept_application(run: Run, conversation: Conversation, caller: Caller) -> ResolvedApplication:
    """The application as it was when the run began, if the caller may still use it."""
    row = usable(caller).filter(conversations=conversation).first()
    if row is None:
        raise ApplicationNotFound(run.application)
    PRICES.refresh()  # this process may have taken no question yet
    if run.manifest is not None:
        row.manifest = run.manifest.document
    return prepare_version(row, run.application_number or row.live_number)
