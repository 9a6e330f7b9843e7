"""Starts a task with a client's message, or uses the message to answer a task's question."""

from dataclasses import dataclass
from uuid import UUID, uuid4

from channels.db import database_sync_to_async
from django.db import transaction

from apps.a2a.errors import InvalidParams, UnsupportedOperation
from apps.a2a.models import ClientMessage
from apps.a2a.parts import read_parts, store_files
from apps.a2a.push_configs import check_config, save_config
from apps.a2a.push_deliveries import push
from apps.a2a.questions import read_answer
from apps.a2a.requests import SendParams, SentMessage, check_history_length
from apps.a2a.tasks import find_task
from apps.accounts.caller import Caller
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.access import own
from apps.conversations.answering import answers
from apps.conversations.answering.answers import OpenWorkspace
from apps.conversations.ask import Ask, SentFile
from apps.conversations.interactions.answer_frames import AnswerFrame
from apps.conversations.interactions.decisions import answer_interaction
from apps.doors.bodies import shorten_text
from apps.errors import Closing, Refused
from apps.live.doors import A2A
from apps.live.hub import Hub
from apps.live.journal import journal
from apps.live.limits.quotas import admit_request, rates_of
from apps.live.models import LONGEST_KEY, Run


@dataclass(frozen=True, slots=True)
class OperationContext:
    """The context of an operation: its caller, its application, and this process's hub."""

    hub: Hub
    caller: Caller
    application: ResolvedApplication
    name: str
    """The application's name in the URL: its slug, or `slug@3` for a version."""
    open_workspace: OpenWorkspace


@dataclass(frozen=True, slots=True)
class SentTask:
    """The task to which a message was sent. The events after number `after` are the response to the
    message.
    """

    run: Run
    after: int


async def send(here: OperationContext, sent: SendParams) -> SentTask:
    """Start a task with the message, or answer the task that it names. Raises `QuickAppError` if
    the message is rejected.
    """
    sent.message.check()
    check_history_length(sent.configuration.history_length)
    if sent.configuration.task_push_notification_config is not None:
        check_config(sent.configuration.task_push_notification_config)
    if here.hub.is_closing:
        raise Closing("server_stopping", "The server is restarting. Try again in a moment.")
    if sent.message.task_id:
        return await answer(here, sent)
    return await begin(here, sent)


async def begin(here: OperationContext, sent: SendParams) -> SentTask:
    """Start a task with the message, in the given conversation or a new one."""
    message, caller, application = sent.message, here.caller, here.application
    conversation: UUID | None = None
    if message.context_id:
        find = database_sync_to_async(find_context)
        conversation = await find(caller, application, message.context_id)
    content = await read_parts(message.parts, application)
    if rates := rates_of(caller, application):
        await admit_request(rates)
    folder = conversation or uuid4()
    paths = await store_files(caller, folder, content, application)
    ask = Ask(
        id=uuid4(),
        text=content.text,
        conversation=conversation,
        begin=None if conversation else folder,
        attachments=tuple(SentFile(url=path) for path in paths),
    )
    try:
        started = await answers.ask(here.hub, caller, application, here.open_workspace, ask, A2A)
    except Refused as error:
        if error.code != "run_going":
            raise
        text = "A task of this context is in progress. Send the message to its taskId, or wait until it ends."
        raise UnsupportedOperation(text) from error
    await database_sync_to_async(note_message)(started.run, ClientMessage.QUESTION, sent)
    return await database_sync_to_async(whole_task)(started.run)  # type: ignore[no-any-return]


def whole_task(run: Run) -> SentTask:
    """Return the run's task with all events of the run: `after` is the number before the first
    event.
    """
    return SentTask(run, (journal.first_number(run.pk) or 1) - 1)


async def answer(here: OperationContext, sent: SendParams) -> SentTask:
    """Answer a question that the task named in the message has asked, and return the task."""
    read = database_sync_to_async(read_task_answer)
    run, frame = await read(here.caller, here.application, sent.message)
    after = await database_sync_to_async(journal.last_number)(run.stream)
    await answer_interaction(here.hub, here.caller, None, frame)
    await database_sync_to_async(note_message)(run, frame.key, sent)
    return SentTask(run, after)


def read_task_answer(
    caller: Caller, application: ResolvedApplication, message: SentMessage
) -> tuple[Run, AnswerFrame]:
    """Return the run of the task that the message names, and the message's answer to one of the
    task's questions.

    Raises `TaskNotFound` if the caller has no such task, `InvalidParams` if the answer is invalid,
    or `UnsupportedOperation` if the task has no open question.
    """
    run = find_task(caller, application, message.task_id)
    if message.context_id and message.context_id != str(run.stream):
        context = shorten_text(message.context_id)
        raise InvalidParams(
            f"contextId: the task does not belong to the context {context!r}. Omit contextId."
        )
    return run, read_answer(run, message)


def find_context(caller: Caller, application: ResolvedApplication, context_id: str) -> UUID:
    """Return the ID of the caller's conversation with the application. Raises `InvalidParams` if it
    does not exist.
    """
    try:
        pk = UUID(context_id)
    except ValueError as error:
        raise unknown_context(context_id) from error
    if not own(caller).filter(application=application.id, pk=pk).exists():
        raise unknown_context(context_id)
    return pk


def unknown_context(context_id: str) -> InvalidParams:
    context = shorten_text(context_id)
    return InvalidParams(f"Unknown contextId: {context!r}. Omit contextId to start a new context.")


@transaction.atomic
def note_message(run: Run, key: str, sent: SendParams) -> None:
    """Store the client's message ID, and any push notification settings in the message. `key`
    identifies the question that the message answers, or is "".
    """
    id = sent.message.message_id
    ClientMessage.objects.update_or_create(
        run=run, key=key[:LONGEST_KEY], defaults={"message_id": id}
    )
    if sent.configuration.task_push_notification_config is None:
        return
    config = save_config(run, sent.configuration.task_push_notification_config)
    # The task may have ended before its configuration was stored.
    if Run.objects.exclude(status__in=Run.GOING).filter(pk=run.pk).exists():
        push.enqueue(config.pk, 1)
