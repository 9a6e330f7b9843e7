"""Stored rows of runs of the gateway."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from apps.accounts.caller import Caller
from apps.doors import run_consumer
from apps.doors.admission import Admission
from apps.errors import ModelFailed
from apps.live.database import on_a_thread
from apps.live.history.summary_writer import RunSummaryWriter
from apps.live.run_summary import RunSummary
from tests.gateway.scripts import (
    ScriptedModel,
    add_application,
    ask,
    asking,
    ends,
    question,
    says,
)

pytestmark = pytest.mark.django_db

FIGURES = ("model_calls", "tool_calls", "prompt_tokens", "completion_tokens")


@pytest.fixture
def writer() -> RunSummaryWriter:
    return RunSummaryWriter(on_a_thread)


async def rows() -> list[dict[str, Any]]:
    names = ("door", "application", "bucket", "status", *FIGURES, "error_reference")
    return [row async for row in RunSummary.objects.values(*names)]


async def test_a_run_leaves_a_row_with_what_it_cost(writer):
    application = await add_application()
    model = ScriptedModel([says("Hello"), ends(prompt=30, completion=4)])

    answer = await ask(application, model, question(stream=True), recorded=writer.recorded)
    await writer.close()

    assert answer.text() == "Hello"
    [row] = await rows()
    assert row == {
        "door": "gateway",
        "application": application.slug,
        "bucket": "",
        "status": "done",
        "model_calls": 1,
        "tool_calls": 0,
        "prompt_tokens": 30,
        "completion_tokens": 4,
        "error_reference": "",
    }
    stored = await RunSummary.objects.aget()
    assert stored.seconds is not None
    assert 0 <= stored.seconds < 60


async def test_a_run_that_failed_is_found_by_the_reference_that_was_shown(writer):
    model = ScriptedModel([ModelFailed("broken", status=500)])

    answer = await ask(await add_application(), model, question(), recorded=writer.recorded)
    await writer.close()

    [row] = await rows()
    assert row["status"] == "failed"
    assert row["error_reference"]
    assert f"(error reference: {row['error_reference']})" in answer.json()["error"]["message"]


async def test_the_client_left_so_the_run_was_stopped(writer):
    model = ScriptedModel([says("Hel"), asyncio.Event()])
    client = asking(await add_application(), model, recorded=writer.recorded)

    await client.send(b'{"messages": [{"role": "user", "content": "Hello"}], "stream": true}')
    await client.communicator.receive_output(60)
    await client.leave()
    await client.is_over()
    await writer.close()

    assert [row["status"] for row in await rows()] == ["stopped"]


async def test_core_has_a_door_of_its_own(writer, monkeypatch):
    application = await add_application()
    name = application.slug

    async def from_core(scope, while_connected):
        return Admission(Caller("dial-somebody", kind="dial", appdata=f"somebody/appdata/{name}"))

    monkeypatch.setattr(run_consumer, "visit", from_core)
    model = ScriptedModel([says("Hello"), ends()])
    await ask(application, model, question(), recorded=writer.recorded)
    await writer.close()

    assert [(row["door"], row["bucket"]) for row in await rows()] == [("core", "dial-somebody")]
