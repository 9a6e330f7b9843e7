"""Meters also receive calls outside the model loop."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from apps.accounts.caller import Caller
from apps.agent.events import ModelUsage
from apps.agent.ledger import InteractionRequest
from apps.agent.loop import AgentLoop
from apps.agent.loop_options import LoopLimits, LoopTools
from apps.agent.messages import ModelMessage
from apps.agent.meter import ModelCallReport, ToolCallReport
from apps.agent.progress import Progress
from apps.agent.tools import Invocation, PendingResult, ToolResult
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.embedders import find_embedder
from apps.errors import ServiceFailed
from apps.insights.meter import CallEntry, RunMeter
from apps.workspace.embeddings.port import Embeddings
from tests.contract import proves
from tests.fakes import (
    FakeWorkspace,
    MemoryLedger,
    ScriptedModel,
    async_tool,
    calling,
    saying,
    spec,
)
from tests.workspace.embeddings.hashed import HashedEmbedder

CALLER = Caller("user-1", "user", user_id=1)
QUESTION = ModelMessage("user", "Where am I?")


def meter() -> tuple[RunMeter, list[CallEntry]]:
    entries: list[CallEntry] = []
    return RunMeter(entries.append, "page", "user-1"), entries


class CountingEmbedder(HashedEmbedder):
    async def embed(self, texts: Any) -> Embeddings:
        if texts == ["broken"]:
            raise ServiceFailed("It said: broken", status=500)
        return replace(await super().embed(texts), prompt_tokens=7)


class EmbeddingWorkspace(FakeWorkspace):
    async def embedder(self, deployment_id: str | None) -> HashedEmbedder:
        return CountingEmbedder(deployment_id or "default")


async def test_vectors_are_reported(settings):
    settings.EMBEDDINGS_DEPLOYMENT = "default"
    own, entries = meter()
    opening = Opening(EmbeddingWorkspace(CALLER), CALLER, lambda event: None, meter=own)

    embedder = await find_embedder(opening, None)
    await embedder.embed(["a", "b"])
    with pytest.raises(ServiceFailed):
        await embedder.embed(["broken"])

    reports = [entry.report for entry in entries]
    assert reports == [
        ModelCallReport("default", reports[0].seconds or 0.0, (ModelUsage("default", 7, 0),)),
        ModelCallReport("default", reports[1].seconds or 0.0, error="status 500"),
    ]


async def test_the_vectors_of_the_server_itself_are_not_reported(settings):
    settings.EMBEDDINGS_DEPLOYMENT = None
    own, entries = meter()
    opening = Opening(EmbeddingWorkspace(CALLER), CALLER, lambda event: None, meter=own)

    await (await find_embedder(opening, None)).embed(["a"])

    assert entries == []


@proves("T-60")
async def test_a_tool_of_the_client_is_reported_without_a_time():
    own, entries = meter()
    model = ScriptedModel(calling(("1", "locate", {})))
    loop = AgentLoop(model, "gpt", LoopTools(external={"locate": spec("locate")}))

    await loop.run([QUESTION], lambda event: None, Progress(meter=own))

    assert entries[-1].report == ToolCallReport("locate", 1, None, "client")


@proves("T-60")
async def test_a_tool_of_the_page_is_reported_once_when_the_page_has_answered():
    async def locate(invocation: Invocation) -> ToolResult:
        if "client_tool" in invocation.answers:
            return ToolResult("In Riga")
        return PendingResult(interactions=(InteractionRequest("", "client_tool", {}),))

    own, entries = meter()
    ledger = MemoryLedger()
    tools = {"locate": async_tool("locate", locate)}
    asks, answers = ScriptedModel(calling(("1", "locate", {}))), ScriptedModel(saying("In Riga."))
    await AgentLoop(asks, "gpt", LoopTools(tools), ledger=ledger).run(
        [QUESTION], lambda event: None, Progress(meter=own)
    )
    [(key, _)] = ledger.interactions
    before = [one.report for one in entries if isinstance(one.report, ToolCallReport)]

    ledger.answer(key, "client_tool", outcome="answered")
    await AgentLoop(answers, "gpt", LoopTools(tools), ledger=ledger, is_resumed=True).run(
        [QUESTION], lambda event: None, Progress(meter=own)
    )

    after = [one.report for one in entries if isinstance(one.report, ToolCallReport)]
    assert before == []
    assert after == [ToolCallReport("locate", 1, None, "client")]
    assert [type(one.report) for one in entries].count(ModelCallReport) == 2


async def test_a_tool_that_takes_too_long_has_failed():
    async def sleep(invocation: Invocation) -> ToolResult:
        await asyncio.Event().wait()
        raise AssertionError

    own, entries = meter()
    model = ScriptedModel(calling(("1", "sleep", {})), saying("Late."))
    loop = AgentLoop(
        model,
        "gpt",
        LoopTools({"sleep": async_tool("sleep", sleep)}),
        limits=LoopLimits(batch_seconds=0.01),
    )

    await loop.run([QUESTION], lambda event: None, Progress(meter=own))

    [use] = [one.report for one in entries if isinstance(one.report, ToolCallReport)]
    assert (use.tool, use.has_failed) == ("sleep", True)
    assert use.seconds is not None
    assert 0 < use.seconds < 60


async def test_what_is_recorded_is_not_reported_again():
    ledger, (first, _), (second, entries) = MemoryLedger(), meter(), meter()
    model = ScriptedModel(saying("Here."))
    await AgentLoop(model, "gpt", LoopTools(), ledger=ledger).run(
        [QUESTION], lambda event: None, Progress(meter=first)
    )

    await AgentLoop(model, "gpt", LoopTools(), ledger=ledger, is_resumed=True).run(
        [QUESTION], lambda event: None, Progress(meter=second)
    )

    assert entries == []
