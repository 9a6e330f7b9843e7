"""Adds, changes and removes messages in a conversation's queue, where they wait until earlier
answers have ended.
"""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Min, Q, QuerySet
from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.access import caller_of_run, find_open, own, reference_of
from apps.conversations.ask import Ask, SentFile
from apps.conversations.asking.chosen_models import check_question
from apps.conversations.asking.questions import (
    NewQuestion,
    StartedAnswer,
    begin_new,
    find_started,
    read_question,
)
from apps.conversations.files.folder import attach_files
from apps.conversations.models import Conversation, QueuedMessage
from apps.conversations.senders import Sender
from apps.errors import Conflict, Missing, Refused
from apps.live import leases
from apps.live.models import Run

MOST = 10
"""The maximum number of queued messages per conversation."""
AT_ONCE = 50
"""The maximum number of conversations whose queues are read at a time."""


def was_accepted(caller: Caller, request: UUID) -> bool:
    """Return True if the caller's request with this ID has already been accepted or queued."""
    is_asked = Run.objects.filter(bucket=caller.bucket, request=request).exists()
    return is_asked or mine(caller).filter(request=request).exists()


def has_to_wait(conversation: UUID, request: UUID) -> bool:
    """Return True if a message must be queued: an answer is running, other messages are waiting to
    be sent, or the message with this request ID is already queued.
    """
    waiting = QueuedMessage.objects.filter(conversation=conversation)
    before = waiting.filter(Q(is_held=False) | Q(request=request))
    return leases.open_run(conversation) is not None or before.exists()


def add(caller: Caller, slug: str, ask: Ask, sender: Sender | None = None) -> QueuedMessage:
    """Append a message to the conversation's queue. With `while_running="stop"`, the message
    becomes the first one.
    Raises `Refused` if the message is invalid, the conversation cannot be continued or the queue is
    full.
    """
    text = read_question(ask)
    if ask.conversation is None:
        raise Missing("conversation_not_found", gettext("This conversation does not exist."))
    if ask.deployment:
        check_question(ask)
    # This lookup is outside the transaction, because a rollback would remove the audit event.
    found = find_open(caller, ask.conversation, slug)
    return add_to(found, caller, ask, text, sender)


@transaction.atomic
def add_to(
    found: Conversation, caller: Caller, ask: Ask, text: str, sender: Sender | None = None
) -> QueuedMessage:
    """Append a message to the conversation's queue, unless it is already queued, and return its
    row. Raises `Refused` if the queue is full or an attached file does not exist.
    """
    # Lock the conversation, so that messages from several tabs are counted one after the other.
    waiting = Conversation.objects.select_for_update().get(pk=found.pk).queued
    known = waiting.filter(request=ask.id).select_related("conversation").first()
    if known is not None:
        return known
    if waiting.count() >= MOST:
        raise Conflict(
            "queue_full",
            gettext("{most} messages are already queued. Remove one of them.").format(most=MOST),
        )
    row = QueuedMessage(
        conversation=found,
        request=ask.id,
        text=text,
        attachments=attach_files(caller, (file.url for file in ask.attachments)),
        caller=reference_of(caller.at(timezone=ask.timezone, surface=ask.surface)),
        place={"slug": ask.place, "narrative": ask.narrative}
        if ask.place or ask.narrative
        else None,
        sender=None if sender is None else sender.stored,
    )
    last = waiting.last()
    row.position = 0 if last is None else last.position + 1
    row.save(force_insert=True)
    if ask.while_running == "stop":
        put_first(caller, row.pk)
    return row


def change(caller: Caller, pk: UUID, text: str | None, held: bool | None) -> UUID:
    """Change the text of a queued message, or pause or resume it. None leaves a value unchanged.
    Return the conversation's ID. Raises `Refused` if the text is invalid or the message is no
    longer queued.
    """
    row = find(caller, pk)
    changed: dict[str, Any] = {"problem": ""}
    if text is not None:
        files = tuple(SentFile(url=file["url"]) for file in row.attachments)
        changed["text"] = read_question(Ask(id=pk, text=text, attachments=files))
    if held is not None:
        changed["is_held"] = held
    if not mine(caller).filter(pk=pk).update(**changed):
        raise not_queued()
    return row.conversation_id


def remove(caller: Caller, pk: UUID) -> UUID:
    """Remove a queued message, and return the conversation's ID. Raises `Refused` if the message is
    no longer queued.
    """
    row = find(caller, pk)
    if not mine(caller).filter(pk=pk).delete()[0]:
        raise not_queued()
    return row.conversation_id


@transaction.atomic
def put_first(caller: Caller, pk: UUID) -> UUID:
    """Move a message to the front of its queue, resume the queue, and return the conversation's ID.
    Raises `Refused` if the message is no longer queued.
    """
    row = find(caller, pk)
    waiting = QueuedMessage.objects.filter(conversation=row.conversation_id)
    waiting.update(is_held=False, problem="")
    first = waiting.aggregate(first=Min("position"))["first"]
    waiting.filter(pk=pk).update(position=(first or 0) - 1)
    return row.conversation_id


def hold(conversation: UUID) -> None:
    """Pause the conversation's queue until the user resumes it."""
    QueuedMessage.objects.filter(conversation=conversation).update(is_held=True)


@transaction.atomic
def hold_refused(row: QueuedMessage, problem: str) -> None:
    """Pause the queue of a message that was rejected for the reason `problem`."""
    hold(row.conversation_id)
    QueuedMessage.objects.filter(pk=row.pk).update(problem=problem)


def next_of(conversation: UUID) -> QueuedMessage | None:
    """Return the queued message that can be sent now. Return None if an answer is running, or if
    the queue is empty or paused.
    """
    if leases.open_run(conversation) is not None:
        return None
    due = QueuedMessage.objects.filter(conversation=conversation, is_held=False)
    return due.select_related("conversation__application").first()


def due_messages() -> QuerySet[QueuedMessage]:
    going = Run.objects.filter(status__in=Run.OPEN).values("stream")
    return QueuedMessage.objects.filter(is_held=False).exclude(conversation__in=going)


def due_conversations() -> list[UUID]:
    """Return the IDs of up to `AT_ONCE` conversations with a queued message that can be sent
    now.
    """
    ids = due_messages().order_by("conversation").values_list("conversation", flat=True)
    return list(ids.distinct()[:AT_ONCE])


def caller_of(row: QueuedMessage) -> Caller:
    """Return the caller who queued the message. Raises `Refused` if the account is closed or the
    API key is no longer valid.
    """
    conversation = row.conversation
    return caller_of_run(Run(stream=conversation.pk, bucket=conversation.owner, caller=row.caller))


@transaction.atomic
def begin(caller: Caller, application: ResolvedApplication, pk: UUID, holder: str) -> StartedAnswer:
    """Convert a queued message to a question with a run.

    `holder` is the name of this process, or "" to queue the run. Raises `Refused` if the message is
    no longer queued, and the same exceptions as `begin_answer`.
    """
    row = QueuedMessage.objects.select_for_update().filter(pk=pk, is_held=False).first()
    if row is None:
        raise not_queued()
    row.delete()
    before = find_started(caller, application.slug, row.request)
    if before is not None:
        return before
    ask = Ask(
        id=row.request,
        text=row.text,
        conversation=row.conversation_id,
        attachments=tuple(SentFile(url=file["url"]) for file in row.attachments),
        timezone=caller.client.timezone,
        surface=caller.client.surface,
        place=(row.place or {}).get("slug", ""),
        narrative=(row.place or {}).get("narrative", ""),
    )
    text, sender = read_question(ask), Sender.read(row.sender)
    return begin_new(NewQuestion(caller, application, ask, text, holder, sender, pk))


def list_queue(caller: Caller, conversation: UUID) -> list[dict[str, Any]]:
    """Return the queued messages in a conversation as JSON for the page."""
    return [
        {
            "id": str(row.pk),
            "request": str(row.request),
            "text": row.text,
            "attachments": row.attachments,
            "held": row.is_held,
            "problem": row.problem,
        }
        for row in mine(caller).filter(conversation=conversation)
    ]


def find(caller: Caller, pk: UUID) -> QueuedMessage:
    """Return the caller's queued message. Raises `Refused` if the caller has no such message."""
    row = mine(caller).filter(pk=pk).first()
    if row is None:
        raise not_queued()
    return row


def mine(caller: Caller) -> QuerySet[QueuedMessage]:
    return QueuedMessage.objects.filter(conversation__in=own(caller))


def not_queued() -> Refused:
    return Refused("not_queued", gettext("This message is no longer queued."))
