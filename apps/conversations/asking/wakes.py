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
from apps.conversations.asking.questions import keep_manifest, question_added
from apps.conversations.asking.queue import MOST
from apps.conversations.models import Conversation, Message, QueuedMessage, question_title
from apps.conversations.senders import Sender
from apps.live.events import StatusChanged, storable_value
from apps.live.journal import journal
from apps.live.limits.queue import TURN, last_turns, lock
from apps.live.limits.rates import counted_name
from apps.live.models import JournalEntry, Run


@dataclass(frozen=True, slots=True)
class Wake:
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
class QueuedWake:
    """The result of sending a message."""

    wake: Wake
    conversation: UUID
    is_waiting: bool = False
    """True if the message is in its conversation's queue."""
    problem: str = ""
    """The reason why the message was rejected, or ""."""


FULL = gettext_noop("Too many messages are already waiting in the conversation.")


def ask_all(wakes: Sequence[Wake]) -> list[QueuedWake]:
    """Store the messages as questions with queued runs, in the current transaction, and return
    their results. A message waits in its conversation's queue if a run is active there.
    """
    if not wakes:
        return []
    places = conversations_of(wakes)
    waiting = set(
        QueuedMessage.objects.filter(conversation__in=places.values(), is_held=False).values_list(
            "conversation", flat=True
        )
    )
    free = [wake for wake in wakes if places[wake.run] not in waiting]
    begun = store_runs(free, places)
    store_questions([wake for wake in free if wake.run in begun], places)
    busy = [wake for wake in wakes if wake.run not in begun]
    queued = queue_all(busy, places)
    return [
        QueuedWake(
            wake,
            places[wake.run],
            is_waiting=wake.run in queued,
            problem="" if wake.run in begun or wake.run in queued else FULL,
        )
        for wake in wakes
    ]


def conversations_of(wakes: Sequence[Wake]) -> dict[UUID, UUID]:
    """Return the ID of each message's conversation, by the message's run ID. Missing conversations
    are created.
    """
    wanted = [wake.conversation for wake in wakes if wake.conversation is not None]
    rows = Conversation.objects.kept().filter(pk__in=wanted)
    known = {(row.pk, row.owner, row.application_id) for row in rows}
    found, new = {}, []
    pins = {row.pk: row.pinned_version for row in rows}
    visibilities = {team: visibility_of(team) for team in {wake.caller.team for wake in wakes}}
    for wake in wakes:
        place = wake.conversation
        if place is not None and (place, wake.caller.bucket, wake.application.id) in known:
            found[wake.run] = place
            if wake.pinned_version is not None and pins[place] != wake.pinned_version:
                rows.filter(pk=place).update(pinned_version=wake.pinned_version)
            continue
        found[wake.run] = wake.new_conversation
        new.append(
            Conversation(
                id=wake.new_conversation,
                application_id=wake.application.id,
                owner=wake.caller.bucket,
                title=question_title(wake.title) or question_title(wake.text),
                has_memory=wake.has_memory,
                team_id=wake.caller.team,
                visibility=visibilities[wake.caller.team],
                pinned_version=wake.pinned_version,
            )
        )
    # Several messages can begin the same conversation.
    Conversation.objects.bulk_create({row.pk: row for row in new}.values())
    return found


def store_runs(wakes: Sequence[Wake], places: Mapping[UUID, UUID]) -> set[UUID]:
    """Store a queued run for each message, and return the IDs of the stored runs. Conversations
    that have an active run are skipped.
    """
    manifests = {wake.application.digest: wake.application for wake in wakes}
    kept = {digest: keep_manifest(application) for digest, application in manifests.items()}
    lock()
    turns = last_turns({counted_name(wake.caller) for wake in wakes})
    now, rows = timezone.now(), []
    for wake in wakes:
        name = counted_name(wake.caller)
        turn = max(now, turns[name] + TURN) if name in turns else now
        turns[name] = turn
        rows.append(
            Run(
                id=wake.run,
                stream=places[wake.run],
                request=uuid4(),
                application=wake.application.slug,
                application_pk=wake.application.id,
                application_number=wake.application.number,
                manifest=kept[wake.application.digest],
                bucket=wake.caller.bucket,
                counted_as=name,
                caller=reference_of(wake.caller),
                door=wake.sender.door,
                unattended=wake.sender.unattended,
                status=Run.Status.QUEUED,
                turn_at=turn,
            )
        )
    # A conversation can have only one active run.
    Run.objects.bulk_create(rows, ignore_conflicts=True)
    return set(Run.objects.filter(pk__in=[row.pk for row in rows]).values_list("pk", flat=True))


def store_questions(wakes: Sequence[Wake], places: Mapping[UUID, UUID]) -> None:
    now = timezone.now()
    streams = [places[wake.run] for wake in wakes]
    leaves = dict(Conversation.objects.filter(pk__in=streams).values_list("pk", "leaf"))
    rows = [
        Message(
            conversation_id=places[wake.run],
            parent_id=leaves.get(places[wake.run]),
            run_id=wake.run,
            role=Message.Role.USER,
            text=storable_value(wake.text),
            sender=wake.sender.shown,
            created_at=now,
        )
        for wake in wakes
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
            wake.run,
            last.get(row.conversation_id, 0) + 1,
            (question_added(row), StatusChanged(Run.Status.QUEUED)),
        )
        for wake, row in zip(wakes, rows, strict=True)
    )


def queue_all(wakes: Sequence[Wake], places: Mapping[UUID, UUID]) -> set[UUID]:
    """Append the messages to their conversations' queues, up to the limit. Return the run IDs of
    the messages that were appended.
    """
    by_place: dict[UUID, list[Wake]] = defaultdict(list)
    for wake in wakes:
        by_place[places[wake.run]].append(wake)
    queued: set[UUID] = set()
    # Only the few messages whose conversation has an active run reach this loop.
    for pk, waiting in by_place.items():
        rows = QueuedMessage.objects.filter(conversation=pk)
        room, last = MOST - rows.count(), rows.last()
        first = 0 if last is None else last.position + 1
        taken = waiting[: max(0, room)]
        QueuedMessage.objects.bulk_create(
            QueuedMessage(
                id=wake.run,
                conversation_id=pk,
                request=uuid4(),
                position=first + number,
                text=storable_value(wake.text),
                caller=reference_of(wake.caller),
                sender=wake.sender.kept,
            )
            for number, wake in enumerate(taken)
        )
        queued |= {wake.run for wake in taken}
    return queued
