"""Messages that wait until the answers before them are over: a queue for each conversation."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Min, Q, QuerySet
from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.catalog.resolved_application import ResolvedApplication
from apps.chat.access import caller_of_run, find_open, own, reference_of
from apps.chat.chosen_models import check_question
from apps.chat.folders import attached
from apps.chat.frames import Ask, QueueChange, QueueFrame, QueueRemove, QueueSend, SentFile
from apps.chat.models import Conversation, QueuedMessage
from apps.chat.questions import Begun, NewQuestion, begin_new, find_begun, read_question
from apps.chat.senders import Sender
from apps.errors import Conflict, Missing, Refused
from apps.live import leases
from apps.live.models import Run

MOST = 10
"""Messages that wait in one conversation."""
AT_ONCE = 50
"""Conversations that one sweep goes on with."""


def was_taken(caller: Caller, request: UUID) -> bool:
    """Whether the same message was sent before, and is answered or queued."""
    is_asked = Run.objects.filter(bucket=caller.bucket, request=request).exists()
    return is_asked or mine(caller).filter(request=request).exists()


def has_to_wait(conversation: UUID, request: UUID) -> bool:
    """Whether a message has to wait, or waits already because it was sent before."""
    waiting = QueuedMessage.objects.filter(conversation=conversation)
    before = waiting.filter(Q(is_held=False) | Q(request=request))
    return leases.open_run(conversation) is not None or before.exists()


def add(caller: Caller, slug: str, ask: Ask, sender: Sender | None = None) -> QueuedMessage:
    """Put a message at the end, or in front of all when it stops the answer. Raises `Refused`."""
    text = read_question(ask)
    if ask.conversation is None:
        raise Missing("conversation_not_found", gettext("There is no such conversation."))
    if ask.deployment:
        check_question(ask)
    # Before the transaction, which a refusal undoes with its note in the audit.
    found = find_open(caller, ask.conversation, slug)
    return add_to(found, caller, ask, text, sender)


@transaction.atomic
def add_to(
    found: Conversation, caller: Caller, ask: Ask, text: str, sender: Sender | None = None
) -> QueuedMessage:
    """Raises `Refused`."""
    # Locked, so that messages from several tabs are counted one after the other.
    waiting = Conversation.objects.select_for_update().get(pk=found.pk).queued
    known = waiting.filter(request=ask.id).select_related("conversation").first()
    if known is not None:
        return known
    if waiting.count() >= MOST:
        raise Conflict(
            "queue_full",
            gettext("{most} messages are waiting already. Remove one of them.").format(most=MOST),
        )
    row = QueuedMessage(
        conversation=found,
        request=ask.id,
        text=text,
        attachments=attached(caller, (file.url for file in ask.attachments)),
        caller=reference_of(replace(caller, timezone=ask.timezone, surface=ask.surface)),
        place={"slug": ask.place, "narrative": ask.narrative}
        if ask.place or ask.narrative
        else None,
        sender=None if sender is None else sender.kept,
    )
    last = waiting.last()
    row.position = 0 if last is None else last.position + 1
    row.save(force_insert=True)
    if ask.while_running == "stop":
        put_first(caller, row.pk)
    return row


def change(caller: Caller, pk: UUID, text: str | None, held: bool | None) -> UUID:
    """Change what is not None; the conversation. Raises `Refused`."""
    row = find(caller, pk)
    changed: dict[str, Any] = {"problem": ""}
    if text is not None:
        files = tuple(SentFile(url=file["url"]) for file in row.attachments)
        changed["text"] = read_question(Ask(type="ask", id=pk, text=text, attachments=files))
    if held is not None:
        changed["is_held"] = held
    if not mine(caller).filter(pk=pk).update(**changed):
        raise not_queued()
    return row.conversation_id


def remove(caller: Caller, pk: UUID) -> UUID:
    """The conversation. Raises `Refused`."""
    row = find(caller, pk)
    if not mine(caller).filter(pk=pk).delete()[0]:
        raise not_queued()
    return row.conversation_id


@transaction.atomic
def put_first(caller: Caller, pk: UUID) -> UUID:
    """Let a message be the next, and the others follow; its conversation. Raises `Refused`."""
    row = find(caller, pk)
    waiting = QueuedMessage.objects.filter(conversation=row.conversation_id)
    waiting.update(is_held=False, problem="")
    first = waiting.aggregate(first=Min("position"))["first"]
    waiting.filter(pk=pk).update(position=(first or 0) - 1)
    return row.conversation_id


def hold(conversation: UUID) -> None:
    """Let nothing be asked until the person says so."""
    QueuedMessage.objects.filter(conversation=conversation).update(is_held=True)


@transaction.atomic
def hold_refused(row: QueuedMessage, problem: str) -> None:
    """Hold the queue whose next message cannot be asked."""
    hold(row.conversation_id)
    QueuedMessage.objects.filter(pk=row.pk).update(problem=problem)


def next_of(conversation: UUID) -> QueuedMessage | None:
    """The message that is to be asked now."""
    if leases.open_run(conversation) is not None:
        return None
    due = QueuedMessage.objects.filter(conversation=conversation, is_held=False)
    return due.select_related("conversation__application").first()


def due_conversations() -> list[UUID]:
    """Where a message is to be asked now."""
    going = Run.objects.filter(status__in=Run.OPEN).values("stream")
    due = QueuedMessage.objects.filter(is_held=False).exclude(conversation__in=going)
    ids = due.order_by("conversation").values_list("conversation", flat=True)
    return list(ids.distinct()[:AT_ONCE])


def caller_of(row: QueuedMessage) -> Caller:
    """Raises `Refused` for an account that is closed, and for a key that is not valid any more."""
    conversation = row.conversation
    return caller_of_run(Run(stream=conversation.pk, bucket=conversation.owner, caller=row.caller))


@transaction.atomic
def begin(caller: Caller, application: ResolvedApplication, pk: UUID, holder: str) -> Begun:
    """Make a queued message a question, as it is in this moment. Raises `Refused`."""
    row = QueuedMessage.objects.select_for_update().filter(pk=pk, is_held=False).first()
    if row is None:
        raise not_queued()
    row.delete()
    before = find_begun(caller, application.slug, row.request)
    if before is not None:
        return before
    ask = Ask(
        type="ask",
        id=row.request,
        text=row.text,
        conversation=row.conversation_id,
        attachments=tuple(SentFile(url=file["url"]) for file in row.attachments),
        timezone=caller.timezone,
        surface=caller.surface,
        place=(row.place or {}).get("slug", ""),
        narrative=(row.place or {}).get("narrative", ""),
    )
    text, sender = read_question(ask), Sender.read(row.sender)
    return begin_new(NewQuestion(caller, application, ask, text, holder, sender, pk))


def shown(caller: Caller, conversation: UUID) -> list[dict[str, Any]]:
    """The queue of a conversation as the page reads it."""
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
    """Raises `Refused`, for somebody else's as for one that is not there any more."""
    row = mine(caller).filter(pk=pk).first()
    if row is None:
        raise not_queued()
    return row


def mine(caller: Caller) -> QuerySet[QueuedMessage]:
    return QueuedMessage.objects.filter(conversation__in=own(caller))


def not_queued() -> Refused:
    return Refused("not_queued", gettext("This message is not waiting any more."))


def changed(caller: Caller, sent: QueueFrame) -> UUID:
    """The conversation whose queue was changed. Raises `Refused`."""
    match sent:
        case QueueChange(id=pk, text=text, held=held):
            return change(caller, pk, text, held)
        case QueueRemove(id=pk):
            return remove(caller, pk)
        case QueueSend(id=pk):
            return put_first(caller, pk)
