"""Answers of doors when the process stops."""

from __future__ import annotations

import asyncio
import json

import pytest

from apps.doors import run_consumer
from apps.doors.run_consumer import OPEN_ANSWERS, OpenAnswers
from apps.errors import ServerStopping
from tests.gateway.scripts import ScriptedModel, add_application, asking, ends, question, says


async def test_an_answer_that_ends_in_time_is_waited_for():
    answers, may_end = OpenAnswers(), asyncio.Event()

    async def answer() -> str:
        async with answers.hold():
            await may_end.wait()
        return "whole"

    answering = asyncio.create_task(answer())
    await asyncio.sleep(0)
    ending = asyncio.create_task(answers.end(60))
    await asyncio.sleep(0)
    may_end.set()

    assert await answering == "whole"
    await ending


async def test_an_answer_that_takes_longer_is_interrupted_and_its_clean_up_is_awaited():
    answers, cleaned = OpenAnswers(), asyncio.Event()

    async def answer() -> None:
        async with answers.hold():
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                cleaned.set()

    answering = asyncio.create_task(answer())
    await asyncio.sleep(0)
    await answers.end(0)

    assert cleaned.is_set()
    with pytest.raises(ServerStopping):
        await answering


async def test_an_answer_that_cannot_be_interrupted_delays_the_end_for_a_bounded_time(monkeypatch):
    monkeypatch.setattr(run_consumer, "FAREWELL_SECONDS", 0.01)
    answers, may_end = OpenAnswers(), asyncio.Event()

    async def answer() -> None:
        async with answers.hold():
            try:
                await asyncio.Event().wait()
            finally:
                await may_end.wait()

    answering = asyncio.create_task(answer())
    await asyncio.sleep(0)
    await answers.end(0)

    assert not answering.done()
    may_end.set()
    with pytest.raises(ServerStopping):
        await answering


@pytest.mark.django_db(transaction=True)
async def test_a_whole_answer_that_is_interrupted_is_a_503_that_may_be_asked_again():
    model = ScriptedModel([says("Well"), asyncio.Event(), ends()])
    client = asking(await add_application(), model)
    await client.send(json.dumps(question()).encode())
    await model.was_asked.wait()
    await OPEN_ANSWERS.end(0)
    answer = await client.read()

    assert (answer.status, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["error"]["code"] == "server_stopping"
    assert model.was_cancelled.is_set()
