"""One stream of server-sent events with all conversations of a user."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from apps.catalog.models import SystemMessage
from apps.conversations.models import Conversation
from apps.live.hub import Hub
from apps.live.journal.commits import OVER
from apps.live.journal.notifications import EVERYBODY, announce_growth
from apps.task_api import person_feed
from apps.task_api.cursor import Cursor, read_cursor
from tests.chat.scripts import PATIENCE, Scene, open_tab, says, scene, settled
from tests.contract import proves
from tests.conversations.answering.test_processes import layer
from tests.task_api.test_event_stream import Stream

__all__ = ["layer"]
pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


class Feed(Stream):
    """A reader of a user's stream. The newest id is `place`."""

    place = ""

    def __init__(self, on: Scene, hub: Hub, last: str = "") -> None:
        super().__init__(on.visitor, hub, "", last)

    async def frame(self) -> dict[str, Any]:
        """Return the next frame of a conversation. Frames about lists are skipped."""
        while True:
            place, _, data = await self.event()
            if data["type"] != "list.refresh":
                self.place = place
                return data

    async def until_over(self, conversation: str) -> list[dict[str, Any]]:
        """Return the frames of all conversations up to the end of an answer in this one."""
        frames: list[dict[str, Any]] = []
        async with asyncio.timeout(PATIENCE):  # heartbeats never end
            while True:
                frames.append(await self.frame())
                last = frames[-1]
                if last["conversation"] == conversation and last.get("status") in OVER:
                    return frames


def of(conversation: str, frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [frame for frame in frames if frame["conversation"] == conversation]


@proves("T-10", "T-13")
async def test_one_stream_has_the_answers_of_all_conversations_in_all_processes(layer):
    async with scene(checks_tasks=layer == "memory") as on:
        feed, other = Feed(on, Hub()), Hub()
        await feed.start()
        first = await on.visitor.tab(on.hub)
        second = await on.visitor.tab(other)
        one = await first.ask("Count.")
        two = await second.ask("Count again.")

        on.model.put(says("a"), says("b"), None, None)
        own_one, own_two = await first.until_over(), await second.until_over()
        seen: list[dict[str, Any]] = []
        for conversation in (one, two):
            if not any(frame.get("status") == "done" for frame in of(conversation, seen)):
                seen += await feed.until_over(conversation)
        await feed.leave()
        await settled(other)

    assert [whole(of(one, seen)), whole(of(two, seen))] == [whole(own_one), whole(own_two)]


def whole(frames: list[dict[str, Any]]) -> list[Any]:
    """Return the contents of the frames, however their texts were joined."""
    kinds = [frame for frame in frames if frame["type"] != "message.delta"]
    texts = (frame["text"] for frame in frames if frame["type"] == "message.delta")
    return [*kinds, "".join(texts)]


@proves("T-14")
async def test_a_reader_that_comes_back_misses_nothing_and_gets_nothing_twice():
    async with scene() as on:
        feed = Feed(on, on.hub)
        await feed.start()
        tab = await on.visitor.tab(on.hub)
        one = await tab.ask("Count.")
        on.model.put(says("one "))
        seen = [await feed.frame() for _ in range(3)]
        await feed.leave()

        on.model.put(says("two"), None)
        own = await tab.until_over()
        other = await on.visitor.tab(on.hub)
        own_other = await other.exchange("Count on.", says("three"))
        again = Feed(on, Hub(), last=feed.place)
        await again.start()
        rest: list[dict[str, Any]] = []
        for conversation in (one, other.conversation):
            if not any(frame.get("status") == "done" for frame in of(conversation, rest)):
                rest += await again.until_over(conversation)
        await again.leave()

    assert whole(seen + of(one, rest)) == whole(own)
    assert whole(of(other.conversation, rest)) == whole(own_other)


async def test_a_reader_that_is_cut_off_before_the_first_event_misses_nothing():
    async with scene() as on:
        feed = Feed(on, on.hub)
        await feed.start()
        bodies = [await feed.body(), await feed.body()]
        await feed.leave()
        tab = await on.visitor.tab(on.hub)
        own = await tab.exchange("Count.", says("one"))

        again = Feed(on, on.hub, last=bodies[1].removeprefix("id: ").strip())
        await again.start()
        frames = await again.until_over(tab.conversation)
        await again.leave()

    assert whole(frames) == whole(own)


@proves("T-10")
async def test_a_stream_has_nothing_of_others_even_if_they_are_asked_for_by_id():
    async with open_tab() as (on, tab):
        await tab.exchange("Count.", says("secret"))
        await on.visitor.leave()
        on.visitor.session.session_key = "browser-2"
        place = str(Cursor(timezone.now() - timedelta(hours=1), {UUID(tab.conversation): 0}))
        feed = Feed(on, on.hub, last=place)
        await feed.start()
        mine = await (await on.visitor.tab(on.hub)).ask("Count.")
        on.model.put(says("mine"), None)

        frames = await feed.until_over(mine)
        await feed.leave()

    assert {frame["conversation"] for frame in frames} == {mine}


async def test_a_conversation_that_is_over_is_not_followed_any_more(settings, monkeypatch):
    settings.HEARTBEAT_SECONDS = 0.05
    monkeypatch.setattr(person_feed, "OVERLAP", timedelta())
    async with scene() as on:
        feed = Feed(on, on.hub)
        await feed.start()
        tab = await on.visitor.tab(on.hub)
        first = await tab.ask("Count.")
        on.model.put(None)
        await feed.until_over(first)
        await on.visitor.leave()
        while UUID(first) in on.hub.streams.viewers:
            await feed.body()  # a heartbeat

        tab = await on.visitor.tab(on.hub)
        second = await tab.ask("Count.")
        on.model.put(None)
        await feed.until_over(second)
        await tab.ask("Count.", first)
        on.model.put(says("three"), None)
        frames = await feed.until_over(first)
        await feed.leave()

    assert [frame["type"] for frame in of(first, frames)] == [
        "message.added",
        "run.status",
        "message.delta",
        "message.complete",
        "run.status",
    ]


@proves("T-10")
async def test_a_list_that_has_changed_is_to_be_loaded_anew(settings):
    settings.HEARTBEAT_SECONDS = 0.05
    async with scene() as on:
        conversation = await Conversation.objects.acreate(
            application=on.application, owner=on.visitor.bucket, title="Old"
        )
        feed = Feed(on, on.hub)
        await feed.start()
        while (await feed.body()) != ": heartbeat\n\n":
            pass  # it has checked by then

        await Conversation.objects.filter(pk=conversation.pk).aupdate(title="New")
        told = await feed.event()
        await feed.leave()

    assert told == ("", "ListRefresh", {"type": "list.refresh", "list": "conversations"})


@proves("T-10")
async def test_messages_of_operators_are_told_to_everybody_once():
    async with scene() as on:
        await SystemMessage.objects.acreate(text="Over", until=timezone.now())
        old = await SystemMessage.objects.acreate(text="Hello")
        feed = Feed(on, on.hub)
        await feed.start()
        told = [await feed.event()]
        until = timezone.now() + timedelta(hours=1)
        new = await SystemMessage.objects.acreate(text="Soon", level="warning", until=until)
        await announce_growth(EVERYBODY)
        told.append(await feed.event())
        await feed.leave()
        again = Feed(on, on.hub, last=told[0][0])
        await again.start()
        missed = await again.event()
        await again.leave()

    assert [name for _, name, _ in told] == ["SystemMessage"] * 2
    kind = "system.message"
    assert [data for _, _, data in (*told, missed)] == [
        {"type": kind, "id": old.pk, "text": "Hello", "level": "info", "until": None},
        *[
            {
                "type": kind,
                "id": new.pk,
                "text": "Soon",
                "level": "warning",
                "until": until.isoformat(),
            }
        ]
        * 2,
    ]


def test_a_cursor_is_read_as_it_was_written():
    streams = {uuid4(): 7, uuid4(): 2**53 - 1}
    before = timezone.now().replace(microsecond=5000) - timedelta(seconds=1)
    cursor = Cursor(before, streams, 4)

    again = read_cursor(str(cursor))

    assert again == cursor
    long_ago = read_cursor("1-0")
    assert timezone.now() - long_ago.since < timedelta(days=1, minutes=1)
    assert read_cursor("9" * 15 + "-1").since <= timezone.now()
