"""One answer: begun in the database, written by a run that needs no viewers, stored at its end."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from channels.db import database_sync_to_async
from django.conf import settings
from django.db import IntegrityError, transaction

from apps.accounts.caller import Caller
from apps.agent.events import Event, Finished, Spent, StateSaved
from apps.agent.messages import Message as Spoken
from apps.catalog.models import Application
from apps.catalog.resolve import ResolvedApplication
from apps.chat.access import find, find_open, own
from apps.chat.endings import conclude, end_abandoned
from apps.chat.folders import attached, folder_of
from apps.chat.frames import Ask
from apps.chat.models import Conversation, Message, title_of
from apps.chat.protocol import encode, run_status, storable
from apps.chat.transcript import Transcript
from apps.errors import ApplicationNotFound, Refused
from apps.live import journal, leases
from apps.live.hub import Hub, RunLog
from apps.live.models import Run
from apps.live.supervisor import RunSupervisor
from apps.runs.requests import RunRequest
from apps.runs.run import run
from apps.workspace.port import Workspace

OpenWorkspace = Callable[[Caller], Workspace]


@dataclass(frozen=True, slots=True)
class Begun:
    """An answer that this process is to write; without a log, one that was begun before."""

    conversation: Conversation
    run: Run
    messages: tuple[Spoken, ...] = ()
    log: RunLog | None = None


async def ask(
    hub: Hub,
    caller: Caller,
    application: ResolvedApplication,
    open_workspace: OpenWorkspace,
    sent: Ask,
) -> Begun:
    """Take a question and start its answer. Raises `Refused`."""

    async def begin_and_start() -> Begun:
        begun: Begun = await database_sync_to_async(begin)(caller, application, sent)
        # Files that the answer makes are put beside the uploads, and deleted with them.
        folder = folder_of(begun.conversation.pk)
        asking = replace(caller, folder=folder, timezone=sent.timezone)
        start(hub, begun, application, open_workspace(asking), asking)
        return begun

    # Once the question is stored, its answer starts even if the page is gone by then.
    return await asyncio.shield(hub.hold(begin_and_start()))


def begin(caller: Caller, application: ResolvedApplication, ask: Ask) -> Begun:
    """Store the question and claim the conversation.

    Raises `Refused`, `ApplicationNotFound` for an application that was deleted in this moment.
    """
    text = read_question(ask)
    try:
        with transaction.atomic():
            before = find_begun(caller, application.slug, ask.id)
            return before or begin_new(caller, application, ask, text)
    except Refused:
        # Another process may have taken the same frame in this moment.
        before = find_begun(caller, application.slug, ask.id)
        if before is None:
            raise
        return before
    except IntegrityError:
        if Application.objects.filter(pk=application.id).exists():
            raise
        raise ApplicationNotFound(application.slug) from None


def find_begun(caller: Caller, slug: str, request: UUID) -> Begun | None:
    """The answer that was begun when the same question was sent before."""
    known = Run.objects.filter(bucket=caller.bucket, request=request).first()
    return None if known is None else Begun(find(caller, known.stream, slug), known)


def begin_new(caller: Caller, application: ResolvedApplication, ask: Ask, text: str) -> Begun:
    if leases.count_going(caller.bucket) >= settings.CHAT_MAX_RUNS_PER_VISITOR:
        raise Refused(
            "too_many_runs",
            "Too many of your answers are being written. Wait for one or stop it first.",
        )
    attachments = attached(caller, (file.url for file in ask.attachments))
    if ask.conversation is None:
        title = title_of(text) or title_of(attachments[0]["title"])
        conversation = create(caller, application, ask.begin, title)
    else:
        conversation = find_open(caller, ask.conversation, application.slug)
        end_abandoned(conversation.pk)
    return store_question(caller, conversation, ask.id, application.slug, text, attachments)


def read_question(ask: Ask) -> str:
    """The text of a question. Raises `Refused` for one that is empty or too long."""
    text = ask.text
    if not text.strip() and not ask.attachments:
        raise Refused("empty_text", "Write a question first.")
    limit = settings.CHAT_MAX_QUESTION_CHARS
    if len(text) > limit:
        raise Refused(
            "too_long",
            f"The question has {len(text):,} characters; at most {limit:,} can be asked.",
        )
    return str(storable(text))


def create(
    caller: Caller, application: ResolvedApplication, begin: UUID | None, title: str
) -> Conversation:
    # A duplicated tab wishes for the same id, which then belongs to the first one.
    is_free = begin is not None and not Conversation.objects.filter(pk=begin).exists()
    chosen = begin if is_free and begin is not None else uuid4()
    return own(caller).create(
        id=chosen, application_id=application.id, owner=caller.bucket, title=title
    )


def store_question(
    caller: Caller,
    conversation: Conversation,
    request: UUID,
    slug: str,
    text: str,
    attachments: list[dict[str, str]],
) -> Begun:
    stream = conversation.pk
    claimed = Run(stream=stream, request=request, application=slug, bucket=caller.bucket)
    leases.claim(claimed)
    question = Message.objects.create(
        conversation=conversation,
        run=claimed,
        role=Message.Role.USER,
        text=text,
        attachments=attachments,
    )
    conversation.updated_at = question.created_at
    conversation.save(update_fields=["updated_at"])
    before = journal.last_number(stream)
    events = (message_added(question), run_status(claimed.status))
    journal.add(journal.Batch(stream, claimed.pk, before + 1, events))
    messages = tuple(message.spoken() for message in conversation.messages.all())
    log = RunLog(stream, claimed.pk, before + 1, events)
    return Begun(conversation, claimed, messages, log)


def message_added(question: Message) -> dict[str, Any]:
    return {
        "type": "message.added",
        "message": {
            "id": str(question.uuid),
            "role": question.role,
            "text": question.text,
            "attachments": question.attachments,
            "created_at": question.created_at.isoformat(),
        },
    }


def start(
    hub: Hub,
    begun: Begun,
    application: ResolvedApplication,
    workspace: Workspace,
    caller: Caller,
) -> None:
    """Let a task of the process write the answer; it goes on when the viewers leave."""
    if begun.log is None:
        return
    recorder = AnswerRecorder(begun.log)
    supervisor = RunSupervisor(hub, begun.log, partial(conclude, begun.run, recorder.transcript))
    request = RunRequest(begun.messages)
    supervisor.start(run(application, request, workspace, caller, recorder.emit))


@dataclass(slots=True)
class AnswerRecorder:
    """Writes the events of a run into the log for its viewers, and into the transcript."""

    log: RunLog
    transcript: Transcript = field(default_factory=Transcript)

    def emit(self, event: Event) -> None:
        if self.log.is_over:
            return  # it did not stop in time, and its ending is already stored
        shown = encode(event)
        if shown is not None:
            shown = storable(shown)
            self.transcript.take(shown)
            self.log.append(shown)
        elif isinstance(event, (StateSaved, Spent, Finished)):
            self.transcript.take_hidden(event)
