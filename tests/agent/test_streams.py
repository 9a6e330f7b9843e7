import asyncio
from contextlib import aclosing

import pytest

from apps.agent.events import Emit, Event, RunFinished, TextDelta
from apps.agent.streams import ReaderTooSlow, stream
from apps.errors import ModelFailed


async def test_what_was_emitted_together_comes_in_one_batch():
    async def run(emit: Emit) -> None:
        emit(TextDelta("a"))
        emit(TextDelta("b"))
        await asyncio.sleep(0)
        emit(RunFinished())

    batches = [batch async for batch in stream(run)]

    assert batches == [[TextDelta("a"), TextDelta("b")], [RunFinished()]]


async def test_everything_that_was_emitted_comes_before_what_was_raised():
    async def run(emit: Emit) -> None:
        emit(TextDelta("a"))
        raise ModelFailed("It broke off.")

    batches: list[list[Event]] = []
    with pytest.raises(ModelFailed):
        async for batch in stream(run):
            batches.append(batch)

    assert batches == [[TextDelta("a")]]


async def test_a_run_that_says_nothing_yields_nothing():
    async def run(emit: Emit) -> None: ...

    assert [batch async for batch in stream(run)] == []


async def test_closing_the_iterator_cancels_the_run_and_waits_for_its_clean_up():
    cleaned = asyncio.Event()

    async def run(emit: Emit) -> None:
        try:
            emit(TextDelta("a"))
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            emit(TextDelta("nobody hears this"))
            cleaned.set()

    async with asyncio.timeout(60):
        async with aclosing(stream(run)) as batches:
            assert await anext(batches) == [TextDelta("a")]

    assert cleaned.is_set()


async def test_a_run_whose_events_nobody_takes_is_given_up():
    cancelled = asyncio.Event()

    async def run(emit: Emit) -> None:
        try:
            while True:
                emit(TextDelta("x" * 65_536))
                await asyncio.sleep(0)
        finally:
            cancelled.set()

    async with asyncio.timeout(60):
        async with aclosing(stream(run)) as batches:
            first = await anext(batches)
            await cancelled.wait()
            with pytest.raises(ReaderTooSlow):
                await anext(batches)

    assert first == [TextDelta("x" * 65_536)]


async def test_many_small_events_may_wait_for_their_reader():
    async def run(emit: Emit) -> None:
        for number in range(10_000):
            emit(TextDelta(str(number)))

    batches = [batch async for batch in stream(run)]

    assert [
        [event.text for event in batch if isinstance(event, TextDelta)] for batch in batches
    ] == [[str(number) for number in range(10_000)]]
