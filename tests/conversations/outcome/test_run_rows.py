"""Stored rows of the page's runs."""

from __future__ import annotations

from typing import Any

import pytest

from apps.agent.events import ModelUsage
from apps.agent.ledger import Step
from apps.agent.messages import ModelMessage
from apps.agent.model import Reply
from apps.agent.steps.results import RecordedOutcome, RecordedReply, write_record
from apps.agent.tools import ToolResult
from apps.conversations.models import Conversation
from apps.conversations.outcome.endings import stop_waiting
from apps.errors import ModelFailed
from apps.insights.models import ModelCall
from apps.live.database import on_a_thread
from apps.live.models import Run, RunStep
from apps.live.run_summary import RunSummary
from tests.chat.scripts import counts, open_tab, says, settled

pytestmark = pytest.mark.django_db

FIGURES = ("status", "model_calls", "tool_calls", "prompt_tokens", "completion_tokens")


async def figures() -> list[tuple[Any, ...]]:
    return [row async for row in RunSummary.objects.values_list("door", *FIGURES)]


async def test_a_run_leaves_a_row_with_its_own_id_and_rows_of_its_calls():
    async with open_tab() as (_, tab):
        await tab.exchange("How warm is it?", says("12 degrees"), counts(7, 2))

    run, row = await Run.objects.aget(), await RunSummary.objects.aget()
    assert (row.pk, row.application, row.bucket) == (run.pk, run.application, run.bucket)
    assert await figures() == [("page", "done", 1, 0, 7, 2)]
    columns = ("run", "conversation", "application", "door", "bucket", "input_tokens")
    assert [row async for row in ModelCall.objects.values_list(*columns)] == [
        (run.pk, run.stream, run.application, "page", run.bucket, 7)
    ]


async def test_a_run_that_failed_is_found_by_the_reference_that_was_shown():
    async with open_tab() as (on, tab):
        on.model.put(ModelFailed("broken"))
        await tab.ask("How warm is it?")
        frames = await tab.until_over()

    [error] = [frame for frame in frames if frame["type"] == "run.error"]
    row = await RunSummary.objects.aget()
    assert row.status == "failed"
    assert row.error_reference == error["reference"] != ""


async def test_the_row_stays_when_the_conversation_is_deleted():
    async with open_tab() as (_, tab):
        await tab.exchange("How warm is it?", says("12 degrees"), counts(7, 2))

    conversation = await Conversation.objects.aget()
    await conversation.adelete()

    assert not await Run.objects.aexists()
    assert await figures() == [("page", "done", 1, 0, 7, 2)]


async def test_a_run_whose_conversation_is_deleted_meanwhile_was_stopped():
    async with open_tab() as (on, tab):
        on.model.put(says("12"))
        await tab.ask("How warm is it?")
        await tab.until("message.delta")
        conversation = await Conversation.objects.aget()
        await conversation.adelete()
        await settled(on.hub)

    assert [row[:2] for row in await figures()] == [("page", "stopped")]


async def test_a_run_that_no_process_works_on_is_counted_by_its_steps():
    async with open_tab() as (_, tab):
        await tab.exchange("How warm is it?", says("12"))
    run = await Run.objects.aget()
    await RunSummary.objects.all().adelete()
    await run.steps.all().adelete()
    spent = (ModelUsage("model", 7, 2),)
    reply = RecordedReply(Reply(ModelMessage("assistant", ""), "stop", spent), 1, 1)
    outcome = RecordedOutcome(ToolResult("12", usage=(ModelUsage("helper", 30, 10),)))
    for step in (
        Step("m:1", "model", "done", result=write_record(reply)),
        Step("t:1:0:call", "tool", "done", result=write_record(outcome)),
        Step("t:1:0:call/m:1", "model", "done", result=write_record(reply)),
        Step("t:1:1:other", "tool", "begun"),
        Step("t:1:2:newer", "tool", "done", result={"of": "other code"}),
    ):
        await RunStep.objects.acreate(
            run=run, key=step.key, kind=step.kind, policy=step.policy, status=step.status,
            result=step.result,
        )  # fmt: skip
    await Run.objects.aupdate(status=Run.Status.WAITING)

    assert await on_a_thread(lambda: stop_waiting(run.stream))

    assert await figures() == [("page", "stopped", 1, 1, 37, 12)]
