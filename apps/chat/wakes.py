"""Many questions at once that no person asks: each stands queued, and any process answers it.

A time of the day at which everybody has something done brings thousands of them, so they are stored
together. What they are about was checked by whoever hands them in.
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
from apps.chat.access import reference_of
from apps.chat.models import Conversation, Message, QueuedMessage, title_of
from apps.chat.questions import keep_manifest, question_added
from apps.chat.queue import MOST
from apps.chat.senders import Sender
from apps.live import journal
from apps.live.events import StatusChanged, storable
from apps.live.models import JournalEntry, Run
from apps.live.queue import TURN, last_turns, lock
from apps.live.rates import counted_name


@dataclass(frozen=True, slots=True)
class Wake:
    """A message to be asked. Without a conversation, or with one that is gone, it begins a new one.

    `source` is what its sender is known by to whoever hands it in. `pinned_version` is the one with
    which its conversation goes on.
    """

    caller: Caller
    application: ResolvedApplication
    text: str
    sender: Sender
    source: UUID
    title: str
    conversation: UUID | None = None
    run: UUID = field(default_factory=uuid4)
    new_conversation: UUID = field(default_factory=uuid4)
    has_memory: bool = True
    pinned_version: int | None = None


@dataclass(frozen=True, slots=True)
class Woken:
    """Where the message stands: as a question of the run, or before it in the conversation's queue.

    `problem` says why it was not asked.
    """

    wake: Wake
    conversation: UUID
    is_waiting: bool = False
    problem: str = ""


FULL = gettext_noop("As many messages as may wait in its conversation are waiting already.")


def ask_all(wakes: Sequence[Wake]) -> list[Woken]:
    """Store the questions, in the transaction around it; the answers are queued without a holder."""
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
        Woken(
            wake,
            places[wake.run],
            is_waiting=wake.run in queued,
            problem="" if wake.run in begun or wake.run in queued else FULL,
        )
        for wake in wakes
    ]


def conversations_of(wakes: Sequence[Wake]) -> dict[UUID, UUID]:
    """The conversation of each run; those that there are not are made."""
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
                title=title_of(wake.title) or title_of(wake.text),
                has_memory=wake.has_memory,
                team_id=wake.caller.team,
                visibility=visibilities[wake.caller.team],
                pinned_version=wake.pinned_version,
            )
        )
    # Several runs of a schedule at once may begin the same one.
    Conversation.objects.bulk_create({row.pk: row for row in new}.values())
    return found


def store_runs(wakes: Sequence[Wake], places: Mapping[UUID, UUID]) -> set[UUID]:
    """The runs that stand queued now; the conversations of others have one that is going."""
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
    Run.objects.bulk_create(rows, ignore_conflicts=True)  # one of a conversation is there already
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
            text=storable(wake.text),
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
    """Put the messages at the ends of their queues, as far as there is room; their runs."""
    by_place: dict[UUID, list[Wake]] = defaultdict(list)
    for wake in wakes:
        by_place[places[wake.run]].append(wake)
    queued: set[UUID] = set()
    for pk, waiting in by_place.items():  # few: somebody talks there in this moment
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
                text=storable(wake.text),
                caller=reference_of(wake.caller),
                sender=wake.sender.kept,
            )
            for number, wake in enumerate(taken)
        )
        queued |= {wake.run for wake in taken}
    return queued
