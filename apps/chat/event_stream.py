"""A conversation as server-sent events, for clients without a WebSocket."""

from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from typing import ClassVar
from urllib.parse import parse_qs
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings

from apps.accounts.caller import Caller
from apps.chat.access import caller_of_scope, own
from apps.chat.endings import end_abandoned
from apps.chat.frames import LARGEST_NUMBER
from apps.chat.protocol import join, server_sent_event, to_json
from apps.errors import Refused
from apps.live.hub import HUB, Hub
from apps.live.notifications import listening
from apps.live.replay import follow
from apps.streaming.consumer import EVENT_STREAM, HttpConsumer

JSON = ((b"content-type", b"application/json"), (b"cache-control", b"no-store"))
STATUS = {
    "method_not_allowed": 405,
    "no_session": 401,
    "conversation_not_found": 404,
    "too_many_streams": 429,
}
STREAMS_PER_VISITOR = 32
"""A browser opens six at most for one host; the rest is room for more windows and scripts."""


class NotificationsConsumer(HttpConsumer):
    """`GET /api/notifications?conversation=…`, from after `Last-Event-ID` on."""

    streams: ClassVar[Counter[str]] = Counter()

    def __init__(self, hub: Hub = HUB) -> None:
        super().__init__()
        self.hub = hub

    async def handle(self) -> None:
        try:
            conversation, after = self.read_request()
            caller = caller_of_scope(self.scope)
            if not await own(caller).filter(pk=conversation).aexists():
                raise Refused("conversation_not_found", "There is no such conversation.")
            with counted(self.streams, caller):
                await self.send_events(conversation, after)
        except Refused as error:
            body = {"error": {"message": str(error), "code": error.code}}
            await self.respond(STATUS.get(error.code, 400), to_json(body).encode(), JSON)

    def read_request(self) -> tuple[UUID, int]:
        """The conversation, and the number of the newest event the reader has. Raises `Refused`."""
        if self.scope["method"] != "GET":
            raise Refused("method_not_allowed", "Use GET.")
        query = parse_qs(self.scope.get("query_string", b"").decode("latin-1"))
        try:
            conversation = UUID(query.get("conversation", [""])[0])
        except ValueError:
            raise Refused("bad_request", "conversation: write the id of a conversation.") from None
        last = self.header(b"last-event-id").strip() or "0"
        if not (last.isascii() and last.isdigit() and int(last[:20]) <= LARGEST_NUMBER):
            raise Refused("bad_request", "Last-Event-ID: write the id of an event.")
        return conversation, int(last[:20])

    async def send_events(self, conversation: UUID, after: int) -> None:
        await self.read_body(0)
        await database_sync_to_async(end_abandoned)(conversation)
        await self.start(200, EVENT_STREAM)
        await self.write(b": open\n\n")  # servers hold the head back until there is a body
        self.keep_alive(settings.HEARTBEAT_SECONDS)
        batches = follow(self.hub, conversation, after, idle=settings.HEARTBEAT_SECONDS)
        async with listening(self.hub, conversation), aclosing(batches):
            async for batch in batches:
                if batch:
                    events = (server_sent_event(conversation, said) for said in join(batch))
                    await self.write(b"".join(events))
                else:
                    await database_sync_to_async(end_abandoned)(conversation)
        await self.end()  # the process ends; a reader connects again


@contextmanager
def counted(streams: Counter[str], caller: Caller) -> Iterator[None]:
    """Raises `Refused` when the visitor has too many streams open."""
    if streams[caller.bucket] >= STREAMS_PER_VISITOR:
        raise Refused("too_many_streams", "Too many streams are open; close some of them first.")
    streams[caller.bucket] += 1
    try:
        yield
    finally:
        streams[caller.bucket] -= 1
        if not streams[caller.bucket]:
            del streams[caller.bucket]
