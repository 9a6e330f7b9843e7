"""Stores many questions from schedules and alarms at once, as queued runs.

Thousands of schedules can be due at a popular time of day, so the messages are stored in bulk. The
caller must have validated the texts.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from django.db.models import Max, OuterRef, Subquery
from django.utils import timezone
from django.utils.translation import gettext_noop

from apps.accounts.caller import Caller
from apps.accounts.teams import visibility_of
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.access import reference_of
from apps.conversations.asking.questions import question_added, store_manifest
from apps.conversations.asking.queue import MOST
from apps.conversations.models import Conversation, Message, QueuedMessage, question_title
from apps.conversations.senders import Sender
from apps.live.events import StatusChanged, storable_value
from apps.live.journal import journal
from apps.live.limits.queue import TURN, last_turns, lock
from apps.live.limits.quotas import counted_name
from apps.live.models import JournalEntry, Run


@dataclass(frozen=True, slots=True)
class ScheduledMessage:
    """A message that a schedule or an alarm sends."""

    caller: Caller
    application: ResolvedApplication
    text: str
    sender: Sender
    source: UUID
    """The ID of the schedule or the alarm."""
    title: str
    conversation: UUID | None = None
    run: UUID = field(default_factory=uuid4)
    new_conversation: UUID = field(default_factory=uuid4)
    """The ID for a new conversation, if `conversation` is None or was deleted."""
    has_memory: bool = True
    pinned_version: int | None = None


@dataclass(frozen=True, slots=True)
class ScheduledMessageResult:
    """The result of sending a message."""

    message: ScheduledMessage
    conversation: UUID
    is_waiting: bool = False
    """True if the message is in its conversation's queue."""
    problem: str = ""
    """The reason why the message was rejected, or ""."""


FULL = gettext_noop("Too many messages are already queued in the conversation.")


def send_all(messages: Sequence[ScheduledMessage]) -> list[ScheduledMessageResult]:
    """Store the messages as questions with queued runs, in the current transaction, and return the
    results. If a conversation has an active run, its message is added to the conversation's queue
    instead.
    """
    if not messages:
        return []
    conversations = conversations_of(messages)
    waiting = set(
        QueuedMessage.objects.filter(
            conversation__in=conversations.values(), is_held=False
        ).values_list("conversation", flat=True)
    )
    free = [message for message in messages if conversations[message.run] not in waiting]
    begun = store_runs(free, conversations)
    store_questions([message for message in free if message.run in begun], conversations)
    busy = [message for message in messages if message.run not in begun]
    queued = queue_all(busy, conversations)
    return [
        ScheduledMessageResult(
            message,
            conversations[message.run],
            is_waiting=message.run in queued,
            problem="" if message.run in begun or message.run in queued else FULL,
        )
        for message in messages
    ]


def conversations_of(messages: Sequence[ScheduledMessage]) -> dict[UUID, UUID]:
    """Map the run ID of each message to the ID of its conversation. Create missing conversations."""
    wanted = [message.conversation for message in messages if message.conversation is not None]
    rows = Conversation.objects.undeleted().filter(pk__in=wanted)
    known = {(row.pk, row.owner, row.application_id) for row in rows}
    found, new = {}, []
    pins = {row.pk: row.pinned_version for row in rows}
    visibilities = {
        team: visibility_of(team) for team in {message.caller.team for message in messages}
    }
    for message in messages:
        conversation = message.conversation
        if (
            conversation is not None
            and (conversation, message.caller.bucket, message.application.id) in known
        ):
            found[message.run] = conversation
            if message.pinned_version is not None and pins[conversation] != message.pinned_version:
                rows.filter(pk=conversation).update(pinned_version=message.pinned_version)
            continue
        found[message.run] = message.new_conversation
        new.append(
            Conversation(
                id=message.new_conversation,
                application_id=message.application.id,
                owner=message.caller.bucket,
                title=question_title(message.title) or question_title(message.text),
                has_memory=message.has_memory,
                team_id=message.caller.team,
                visibility=visibilities[message.caller.team],
                pinned_version=message.pinned_version,
            )
        )
    # Several messages can begin the same conversation.
    Conversation.objects.bulk_create({row.pk: row for row in new}.values())
    return found


def store_runs(
    messages: Sequence[ScheduledMessage], conversations: Mapping[UUID, UUID]
) -> set[UUID]:
    """Store a queued run for each message, and return the IDs of the stored runs. Conversations
    that have an active run are skipped.
    """
    manifests = {message.application.digest: message.application for message in messages}
    kept = {digest: store_manifest(application) for digest, application in manifests.items()}
    lock()
    turns = last_turns({counted_name(message.caller) for message in messages})
    now, rows = timezone.now(), []
    for message in messages:
        name = counted_name(message.caller)
        turn = max(now, turns[name] + TURN) if name in turns else now
        turns[name] = turn
        rows.append(
            Run(
                id=message.run,
                stream=conversations[message.run],
                request=uuid4(),
                application=message.application.slug,
                application_pk=message.application.id,
                application_number=message.application.number,
                manifest=kept[message.application.digest],
                bucket=message.caller.bucket,
                counted_as=name,
                caller=reference_of(message.caller),
                door=message.sender.door,
                unattended=message.sender.unattended,
                status=Run.Status.QUEUED,
                turn_at=turn,
            )
        )
    # A conversation can have only one active run.
    Run.objects.bulk_create(rows, ignore_conflicts=True)
    return set(Run.objects.filter(pk__in=[row.pk for row in rows]).values_list("pk", flat=True))


def store_questions(
    messages: Sequence[ScheduledMessage], conversations: Mapping[UUID, UUID]
) -> None:
    now = timezone.now()
    streams = [conversations[message.run] for message in messages]
    leaves = dict(Conversation.objects.filter(pk__in=streams).values_list("pk", "leaf"))
    rows = [
        Message(
            conversation_id=conversations[message.run],
            parent_id=leaves.get(conversations[message.run]),
            run_id=message.run,
            role=Message.Role.USER,
            text=storable_value(message.text),
            sender=message.sender.shown,
            created_at=now,
        )
        for message in messages
    ]
    Message.objects.bulk_create(rows)
    asked = Message.objects.filter(conversation=OuterRef("pk"), role=Message.Role.USER)
    newest = Subquery(asked.order_by("-pk").values("pk")[:1])
    Conversation.objects.filter(pk__in=streams).update(updated_at=now, leaf=newest)
    entries = JournalEntry.objects.filter(stream__in=streams).order_by()
    last = dict(entries.values_list("stream").annotate(Max("last")))
    JournalEntry.objects.bulk_create(
        journal.entry_of(
            row.conversation_id,
            message.run,
            last.get(row.conversation_id, 0) + 1,
            (question_added(row), StatusChanged(Run.Status.QUEUED)),
        )
        for message, row in zip(messages, rows, strict=True)
    )


def queue_all(
    messages: Sequence[ScheduledMessage], conversations: Mapping[UUID, UUID]
) -> set[UUID]:
    """Append the messages to their conversations' queues, up to the limit. Return the run IDs of
    the messages that were appended.
    """
    by_conversation: dict[UUID, list[ScheduledMessage]] = defaultdict(list)
    for message in messages:
        by_conversation[conversations[message.run]].append(message)
    queued: set[UUID] = set()
    # Only the few messages whose conversation has an active run reach this loop.
    for pk, waiting in by_conversation.items():
        rows = QueuedMessage.objects.filter(conversation=pk)
        room, last = MOST - rows.count(), rows.last()
        first = 0 if last is None else last.position + 1
        appended = waiting[: max(0, room)]
        QueuedMessage.objects.bulk_create(
            QueuedMessage(
                id=message.run,
                conversation_id=pk,
                request=uuid4(),
                position=first + number,
                text=storable_value(message.text),
                caller=reference_of(message.caller),
                sender=message.sender.stored,
            )
            for number, message in enumerate(appended)
        )
        queued |= {message.run for message in appended}
    return queued
