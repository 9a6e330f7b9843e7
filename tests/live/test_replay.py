"""A reader of a stream gets every event once and in order, wherever it is interrupted."""

from __future__ import annotations

import asyncio
import itertools
import time
from contextlib import aclosing
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from apps.agent.events import StageDelta, TextDelta
from apps.live.events import join_texts
from apps.live.hub import Hub
from apps.live.journal import journal
from apps.live.journal.log import RunLog
from apps.live.models import Run
from apps.live.replay import follow_events, newer
from tests.contract import proves

pytestmark = pytest.mark.django_db

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(1, 4)),
        st.tuples(st.just("write"), st.integers(1, 3)),
        st.tuples(st.just("read"), st.integers(1, 2)),
        st.tuples(st.just("read elsewhere"), st.integers(1, 2)),
        st.tuples(st.just("forget"), st.integers(1, 7)),
        st.tuples(st.just("tell"), st.just(0)),
        st.tuples(st.just("next run"), st.just(0)),
    ),
    max_size=30,
)


class Stream:
    """Consecutive runs, written when the test requests it."""

    def __init__(self, kept: int) -> None:
        self.id = uuid4()
        self.hub = Hub()
        self.kept = kept
        self.said: list[str] = []

    async def begin(self) -> None:
        fields = {"request": uuid4(), "application": "demo", "bucket": "user-1"}
        run = await Run.objects.acreate(stream=self.id, **fields)
        last = await database_sync_to_async(journal.last_number)(self.id)
        self.log = RunLog(self.id, run.pk, last + 1)
        self.log.most_stored = self.kept
        self.hub.streams.add(self.log)

    async def say(self, count: int) -> None:
        for _ in range(count):
            number = len(self.said) + 1
            # sometimes an event that is not joined with its neighbors
            text = f"<{number}>"
            self.said.append(text)
            self.log.append(StageDelta("s", text) if number % 5 == 0 else TextDelta(text))

    async def write(self, count: int) -> None:
        said = self.log.after(self.log.written, count)
        if said:
            events = [event for _, _, event in said]
            entry = journal.entry_of(self.id, self.log.run, self.log.written + 1, events)
            await entry.asave(force_insert=True)
            self.log.mark_written(entry.last)

    def tell(self, hub: Hub) -> None:
        """Send another process what it has not received, as the channel layer would."""
        log = self.log
        told = RunLog(self.id, log.run, log.announced + 1)
        for _, _, event in join_texts(log.after(max(log.announced, log.first - 1))):
            told.append(event)
        if log.announced >= log.first - 1 and told.events:
            hub.streams.add_received(told)
        log.announced = log.last

    async def end(self) -> None:
        while self.log.written < self.log.last:
            await self.write(1_000)
        await Run.objects.filter(pk=self.log.run).aupdate(status="done")
        self.log.is_over = True
        self.hub.streams.remove(self.log)

    async def restart(self, _: int) -> None:
        await self.end()
        await self.begin()


class Reader:
    """A reader that is interrupted after some frames, and resumes after the last number."""

    def __init__(self, hub: Hub, stream: Stream) -> None:
        self.hub = hub
        self.stream = stream
        self.after = 0
        self.texts: list[str] = []

    async def read(self, frames: int) -> int:
        """Read up to that many of the available frames. Return their number."""
        said = await newer(self.hub, self.stream.id, self.after)
        joined = list(join_texts(said))[:frames]
        for number, _, event in joined:
            assert number > self.after
            self.after = number
            self.texts.append(event.text)  # type: ignore[union-attr]
        return len(joined)

    def forget(self, characters: int) -> None:
        """Discard the end of what was read."""
        whole = "".join(self.texts)
        self.after = max(0, self.after - characters)
        self.texts = [whole[: self.after]]


async def play(steps: list[tuple[str, int]], kept: int) -> None:
    stream = Stream(kept)
    await stream.begin()
    here, there = Reader(stream.hub, stream), Reader(Hub(), stream)
    actions = {
        "say": stream.say,
        "write": stream.write,
        "read": here.read,
        "read elsewhere": there.read,
        "next run": stream.restart,
    }
    for step, count in steps:
        if step == "forget":
            here.forget(count)
            there.forget(count)
        elif step == "tell":
            stream.tell(there.hub)
        else:
            await actions[step](count)
    await stream.end()
    for reader in (here, there):
        while await reader.read(1_000):
            pass
        assert "".join(reader.texts) == "".join(stream.said)
        assert reader.after == len("".join(stream.said))


CUTS = given(steps=STEPS, kept=st.integers(0, 2))


@proves("T-14")
@settings(max_examples=100)
@CUTS
def test_any_cuts_and_any_batches_lose_and_double_nothing(steps: Any, kept: int):
    async_to_sync(play)(steps, kept)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_more_cuts_and_batches_lose_and_double_nothing(request: pytest.FixtureRequest):
    def check(steps: Any, kept: int) -> None:
        async_to_sync(play)(steps, kept)

    many = settings(max_examples=300, derandomize=False, database=None)
    end = time.monotonic() + request.config.getoption("--soak-seconds")
    for number in itertools.takewhile(lambda _: time.monotonic() < end, itertools.count()):
        many(seed(number)(CUTS(check)))()


async def test_a_follower_is_woken_by_what_is_said():
    stream = Stream(kept=10)
    await stream.begin()
    await stream.say(1)

    async with aclosing(follow_events(stream.hub, stream.id, 0, idle=5)) as batches:
        first = await anext(batches)
        waiting = asyncio.ensure_future(anext(batches))
        await asyncio.sleep(0)
        await stream.say(2)
        second = await asyncio.wait_for(waiting, 60)

    assert [number for number, _, _ in first] == [3]
    assert [number for number, _, _ in second] == [6, 9]
    assert stream.hub.streams.viewers == {}


async def test_a_follower_hears_that_nothing_came():
    async with aclosing(follow_events(Hub(), uuid4(), 0, idle=0.01)) as batches:
        assert await anext(batches) == []


async def test_a_reader_that_claims_to_be_ahead_is_sent_only_what_follows():
    stream = Stream(kept=10)
    await stream.begin()
    await stream.say(5)

    said = await newer(stream.hub, stream.id, 13)
    beyond = await newer(stream.hub, stream.id, 99)

    assert [(number, event) for number, _, event in said] == [(15, StageDelta("s", "5>"))]
    assert beyond == []


async def test_a_log_that_forgets_while_the_journal_is_read_is_read_anew():
    stream = Stream(kept=10)
    await stream.begin()
    stream.log.first = 10
    await stream.say(3)

    reading = asyncio.ensure_future(newer(stream.hub, stream.id, 0))
    await asyncio.sleep(0)
    del stream.log.events[:1]
    del stream.log.numbers[:1]
    stream.log.first += 3
    said = await reading

    assert [(number, event.text) for number, _, event in said] == [(15, "<2>"), (18, "<3>")]  # type: ignore[union-attr]
