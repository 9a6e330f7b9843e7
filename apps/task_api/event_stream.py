"""Streams the events of conversations as server-sent events."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from functools import partial
from typing import ClassVar
from urllib.parse import parse_qs
from uuid import UUID

from django.conf import settings

from apps.accounts.authentication import authenticate, read_headers
from apps.accounts.caller import Caller
from apps.conversations.access import own
from apps.conversations.answering.continuation import sweeper
from apps.doors.consumer import EVENT_STREAM
from apps.doors.json_consumer import JsonConsumer
from apps.doors.sessions import check_session, has_switched_team, while_open
from apps.errors import Missing, Refused, TooOften
from apps.integers import LARGEST_EXACT, read_integer
from apps.live.events import join_texts
from apps.live.hub import HUB, Hub
from apps.live.journal.notifications import listening
from apps.live.replay import follow_events
from apps.task_api.cursor import Cursor, read_cursor
from apps.task_api.person_feed import PersonFeed
from apps.task_api.server_sent_events import Unions, server_sent_event

STREAMS_PER_VISITOR = 32
"""The maximum number of open streams per caller. A browser opens up to six per host."""


class NotificationsConsumer(JsonConsumer):
    """Serves `GET /api/notifications`, which streams the events after `Last-Event-ID`.

    `?conversation=…` selects one conversation, from its beginning. Without it, the stream contains
    all of the caller's conversations. `?unions=cases` encodes events as F# unions.
    """

    streams: ClassVar[Counter[str]] = Counter()

    def __init__(self, hub: Hub = HUB) -> None:
        super().__init__()
        self.hub = hub

    async def answer(self) -> None:
        query = parse_qs(
            self.scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True
        )
        last = self.header(b"last-event-id").strip()
        unions = read_unions(query.get("unions", ["plain"])[0])
        if "conversation" not in query:
            await self.send_all(read_cursor(last), unions)
            return
        conversation, after = read_conversation(query["conversation"][0]), read_number(last)
        caller = await self.caller()
        if not await own(caller).filter(pk=conversation).aexists():
            raise Missing("conversation_not_found", "This conversation does not exist.")
        with count_stream(self.streams, caller):
            work = self.send_events(conversation, after, unions)
            await while_open(self.hub, caller, partial(self.check_with_team, caller), work)
            await self.end()  # The process or the session has ended. A reader reconnects.

    async def send_all(self, cursor: Cursor, unions: Unions) -> None:
        caller = await self.caller()
        with count_stream(self.streams, caller):
            await self.open()
            feed = PersonFeed(self.hub, caller, cursor, self.write, unions, self.session_key)
            await while_open(self.hub, caller, self.check, feed.run())
            await self.end()

    async def check(self, _: asyncio.Event) -> None:
        """Raise `NotAuthenticated` if the key is no longer valid, or `Refused` if the session has
        ended.
        """
        sent = read_headers(self.scope["headers"])
        if sent.api_key or sent.bearer:
            await authenticate(self.scope)
        else:
            await check_session(self.scope)

    async def check_with_team(self, caller: Caller, news: asyncio.Event) -> None:
        """Check the caller as `check` does. Also raise `Refused` if the user has switched teams."""
        await self.check(news)
        if await has_switched_team(caller, self.session_key):
            raise Refused("no_team", "You switched to another team.")

    async def open(self) -> None:
        await self.read_body(0)
        await self.start(200, EVENT_STREAM)
        await self.write(
            b": open\n\n"
        )  # Servers send the headers only with the first chunk of the body.
        self.keep_alive(settings.HEARTBEAT_SECONDS)

    @property
    def session_key(self) -> str:
        return self.scope["session"].session_key or ""

    async def send_events(self, conversation: UUID, after: int, unions: Unions) -> None:
        sweeping = sweeper(self.hub)
        await sweeping.sweep(conversation)
        await self.open()
        batches = follow_events(self.hub, conversation, after, idle=settings.HEARTBEAT_SECONDS)
        async with listening(self.hub.streams, conversation), aclosing(batches):
            async for batch in batches:
                if batch:
                    write = partial(server_sent_event, conversation, unions=unions)
                    await self.write(b"".join(map(write, join_texts(batch))))
                else:
                    await sweeping.sweep(conversation)


def read_conversation(written: str) -> UUID:
    """Parse a conversation's ID. Raises `Refused` if it is not a UUID."""
    try:
        return UUID(written)
    except ValueError:
        raise Refused("bad_request", "conversation: use the ID of a conversation.") from None


def read_unions(written: str) -> Unions:
    """Return the requested encoding of unions in the event stream. Raises `Refused` if it is
    unknown.
    """
    if written not in ("plain", "cases"):
        raise Refused("bad_request", "unions: use plain or cases.")
    return "cases" if written == "cases" else "plain"


def read_number(last: str) -> int:
    """Return the number of the newest event that the client has received; "" means 0. Raises
    `Refused` if it is invalid.
    """
    number = read_integer(last or "0", LARGEST_EXACT)
    if number is None:
        raise Refused("bad_request", "Last-Event-ID: use the ID of an event.")
    return number


@contextmanager
def count_stream(streams: Counter[str], caller: Caller) -> Iterator[None]:
    """Count the caller's open stream during the block. Raises `TooOften` if there are too many."""
    if streams[caller.bucket] >= STREAMS_PER_VISITOR:
        raise TooOften("too_many_streams", "Too many streams are open. Close some of them first.")
    streams[caller.bucket] += 1
    try:
        yield
    finally:
        streams[caller.bucket] -= 1
        if not streams[caller.bucket]:
            del streams[caller.bucket]
