"""Conversations as server-sent events, for programs and for pages that watch all of them."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from functools import partial
from typing import ClassVar
from urllib.parse import parse_qs
from uuid import UUID

from django.conf import settings

from apps.accounts.authentication import authenticate
from apps.accounts.caller import Caller
from apps.accounts.sender_headers import read_headers
from apps.chat.access import look_whether_moved, own
from apps.chat.continuation import sweeper
from apps.chat.cursor import Cursor, read_cursor
from apps.chat.frames import LARGEST_NUMBER
from apps.chat.json_consumer import JsonConsumer
from apps.chat.person_feed import PersonFeed
from apps.chat.protocol import Unions, server_sent_event
from apps.chat.session_end import check_session, while_open
from apps.doors.consumer import EVENT_STREAM
from apps.errors import Missing, Refused, TooOften
from apps.integers import read_integer
from apps.live.events import join
from apps.live.hub import HUB, Hub
from apps.live.notifications import listening
from apps.live.replay import follow

STREAMS_PER_VISITOR = 32
"""A browser opens six at most for one host; the rest is room for more windows and scripts."""


class NotificationsConsumer(JsonConsumer):
    """`GET /api/notifications`, from after `Last-Event-ID` on.

    With `?conversation=…` it is one conversation from its beginning, else all of the caller's;
    with `?unions=cases` each event is written as F# programs write unions.
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
            raise Missing("conversation_not_found", "There is no such conversation.")
        with counted(self.streams, caller):
            work = self.send_events(conversation, after, unions)
            await while_open(self.hub, caller, partial(self.check_place, caller), work)
            await self.end()  # the process or the session ends; a reader connects again

    async def send_all(self, cursor: Cursor, unions: Unions) -> None:
        caller = await self.caller()
        with counted(self.streams, caller):
            await self.open()
            feed = PersonFeed(self.hub, caller, cursor, self.write, unions, self.session_key)
            await while_open(self.hub, caller, self.check, feed.run())
            await self.end()

    async def check(self, _: asyncio.Event) -> None:
        """Raises `NotAuthenticated` or `Refused` when the key or the session has ended."""
        sent = read_headers(self.scope["headers"])
        if sent.api_key or sent.bearer:
            await authenticate(self.scope)
        else:
            await check_session(self.scope)

    async def check_place(self, caller: Caller, news: asyncio.Event) -> None:
        """As `check`; raises `Refused` also for a person who works in another team by now."""
        await self.check(news)
        if await look_whether_moved(caller, self.session_key):
            raise Refused("no_team", "You work in another team now.")

    async def open(self) -> None:
        await self.read_body(0)
        await self.start(200, EVENT_STREAM)
        await self.write(b": open\n\n")  # servers hold the head back until there is a body
        self.keep_alive(settings.HEARTBEAT_SECONDS)

    @property
    def session_key(self) -> str:
        return self.scope["session"].session_key or ""

    async def send_events(self, conversation: UUID, after: int, unions: Unions) -> None:
        sweeping = sweeper(self.hub)
        await sweeping.sweep(conversation)
        await self.open()
        batches = follow(self.hub, conversation, after, idle=settings.HEARTBEAT_SECONDS)
        async with listening(self.hub, conversation), aclosing(batches):
            async for batch in batches:
                if batch:
                    write = partial(server_sent_event, conversation, unions=unions)
                    await self.write(b"".join(map(write, join(batch))))
                else:
                    await sweeping.sweep(conversation)


def read_conversation(written: str) -> UUID:
    """Raises `Refused`."""
    try:
        return UUID(written)
    except ValueError:
        raise Refused("bad_request", "conversation: write the id of a conversation.") from None


def read_unions(written: str) -> Unions:
    """Raises `Refused`."""
    if written not in ("plain", "cases"):
        raise Refused("bad_request", "unions: write plain or cases.")
    return "cases" if written == "cases" else "plain"


def read_number(last: str) -> int:
    """The number of the newest event the reader has. Raises `Refused`."""
    number = read_integer(last or "0", LARGEST_NUMBER)
    if number is None:
        raise Refused("bad_request", "Last-Event-ID: write the id of an event.")
    return number


@contextmanager
def counted(streams: Counter[str], caller: Caller) -> Iterator[None]:
    """Raises `Refused` when the visitor has too many streams open."""
    if streams[caller.bucket] >= STREAMS_PER_VISITOR:
        raise TooOften("too_many_streams", "Too many streams are open; close some of them first.")
    streams[caller.bucket] += 1
    try:
        yield
    finally:
        streams[caller.bucket] -= 1
        if not streams[caller.bucket]:
            del streams[caller.bucket]
