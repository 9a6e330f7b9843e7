"""Streams the events in all of a user's conversations, from all processes."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings
from django.db.models import Min, Q
from django.utils import timezone

from apps.accounts.caller import Caller
from apps.catalog.models import SystemMessage
from apps.conversations.access import own, person_stream
from apps.conversations.answering.continuation import sweeper
from apps.conversations.listing import watch_stream
from apps.doors.sessions import has_switched_team
from apps.live.events import NumberedEvent, StatusChanged, join_texts
from apps.live.hub import Hub
from apps.live.journal import journal
from apps.live.journal.notifications import EVERYBODY, listening
from apps.live.models import JournalEntry, Run
from apps.live.replay import follow_events
from apps.task_api.cursor import Cursor
from apps.task_api.server_sent_events import (
    Unions,
    list_refresh,
    server_sent_event,
    system_message,
    team_changed,
)

MOST_STREAMS = 50
"""The maximum number of conversations that are followed at once. The least recently active ones are
omitted.
"""
LISTED = 200
OVERLAP = timedelta(seconds=60)
"""Ended runs remain in the cursor for this long, because clocks differ between processes and
commits take time.
"""


class TeamSwitched(Exception):
    """Raised if the user has switched to another team."""


class PersonFeed:
    """Writes the server-sent events that follow the cursor, until the process ends or the user
    switches teams.

    Each conversation has an asyncio task that reads its events. Only one task writes at a time, so
    all of them wait for a slow client.
    """

    def __init__(
        self,
        hub: Hub,
        caller: Caller,
        cursor: Cursor,
        write: Callable[[bytes], Awaitable[None]],
        unions: Unions,
        session_key: str = "",
    ) -> None:
        self.hub = hub
        self.caller = caller
        self.cursor = cursor
        self.write = write
        self.unions = unions
        self.session_key = session_key
        self.person = person_stream(caller.bucket)
        self.sweeper = sweeper(hub)
        self.readers: dict[UUID, asyncio.Task[None]] = {}
        self.turn = asyncio.Lock()
        self.listed: Any = None

    async def run(self) -> None:
        mine = await database_sync_to_async(still_own)(self.caller, list(self.cursor.numbers))
        self.cursor.numbers = {stream: self.cursor.numbers[stream] for stream in mine}
        # An ID without data. A client that disconnects before the first event sends it back.
        await self.write(f"id: {self.cursor}\n\n".encode())
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(watch_stream(self.hub, EVERYBODY, self.send_system_messages))
                update = partial(self.update, tasks)
                tasks.create_task(watch_stream(self.hub, self.person, update))
        except* TeamSwitched:
            await self.write(team_changed(self.unions))

    async def send_system_messages(self, _: asyncio.Event) -> None:
        for message in await database_sync_to_async(messages_after)(self.cursor.message):
            async with self.turn:
                self.cursor.message = message.pk
                await self.write(system_message(message, str(self.cursor), self.unions))

    async def update(self, tasks: asyncio.TaskGroup, news: asyncio.Event) -> None:
        """Follow conversations with new runs, stop following conversations whose runs have ended,
        and report changes to the conversation list. Raises `TeamSwitched`.
        """
        if await has_switched_team(self.caller, self.session_key):
            raise TeamSwitched
        now = timezone.now()
        numbers = dict(self.cursor.numbers)
        found: Overview = await database_sync_to_async(overview)(
            self.caller, self.cursor.since, numbers
        )
        async with self.turn:  # A task must not be canceled while it is writing.
            for stream in found.ended:
                if self.cursor.numbers[stream] == numbers[stream]:
                    self.leave(stream)
            self.cursor.numbers = {**found.followed, **self.cursor.numbers}
            self.cursor.since = max(self.cursor.since, now - OVERLAP)
            if self.listed not in (None, found.listed):
                await self.write(list_refresh("conversations", self.unions))
            self.listed = found.listed
        for stream, number in self.cursor.numbers.items():
            if stream not in self.readers:
                self.readers[stream] = tasks.create_task(self.read(stream, number, news))

    def leave(self, stream: UUID) -> None:
        del self.cursor.numbers[stream]
        if (reader := self.readers.pop(stream, None)) is not None:
            reader.cancel()

    async def read(self, stream: UUID, after: int, news: asyncio.Event) -> None:
        batches = follow_events(self.hub, stream, after, idle=settings.HEARTBEAT_SECONDS)
        async with listening(self.hub.streams, stream), aclosing(batches):
            async for batch in batches:
                if not batch:
                    await self.sweeper.sweep(stream)
                    continue
                async with self.turn:
                    await self.write(
                        b"".join(self.encode(stream, said) for said in join_texts(batch))
                    )
                if any(isinstance(event, StatusChanged) for _, _, event in batch):
                    news.set()  # The list shows the status.

    def encode(self, stream: UUID, said: NumberedEvent) -> bytes:
        self.cursor.numbers[stream] = said[0]
        return server_sent_event(stream, said, str(self.cursor), self.unions)


@dataclass(frozen=True, slots=True)
class Overview:
    """The state of a user's conversations."""

    followed: Mapping[UUID, int]
    """Maps each conversation to follow to an event number. Only events with higher numbers are
    sent.
    """
    ended: Collection[UUID]
    """The conversations that have no further events."""
    listed: Sequence[Any]
    """A value that changes whenever the conversation list changes."""


def overview(caller: Caller, since: datetime, numbers: Mapping[UUID, int]) -> Overview:
    recent = Q(status__in=Run.OPEN) | Q(finished_at__gte=since)
    runs = Run.objects.filter(recent, bucket=caller.bucket).order_by("-beat_at")
    streams = dict(runs.values_list("pk", "stream")[:MOST_STREAMS])
    new = [run for run, stream in streams.items() if stream not in numbers]
    entries = JournalEntry.objects.filter(run__in=new).values("stream").order_by()
    firsts = entries.annotate(begin=Min("first")).values_list("stream", "begin")
    quiet = numbers.keys() - set(streams.values())
    titles = own(caller).values_list("pk", "title", "is_unread")[:LISTED]
    going = Run.objects.filter(bucket=caller.bucket, status__in=Run.OPEN)
    return Overview(
        {stream: first - 1 for stream, first in firsts},
        [stream for stream in quiet if journal.last_number(stream) <= numbers[stream]],
        [*titles, *going.order_by("pk").values_list("stream", "status")],
    )


def still_own(caller: Caller, streams: Sequence[UUID]) -> list[UUID]:
    """Return only the streams that are still the caller's conversations."""
    return list(own(caller).filter(pk__in=streams).values_list("pk", flat=True))


def messages_after(last: int) -> list[SystemMessage]:
    now = timezone.now()
    current = Q(until=None) | Q(until__gt=now)
    return list(SystemMessage.objects.filter(current, pk__gt=last))
