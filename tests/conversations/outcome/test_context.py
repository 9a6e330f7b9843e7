"""Long conversations on the page: the model's messages, stored rows, and the page's frames."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest
from channels.db import database_sync_to_async
from django.test import AsyncClient

from apps.agent.context.summaries import ConversationSummary
from apps.chat.exports.conversation import markdown
from apps.conversations.answering.continuation import sweeper
from apps.conversations.branches import path
from apps.conversations.keeping.search import search_in
from apps.conversations.models import Conversation, Message
from apps.conversations.outcome.summaries import ConversationSummaries, _being_written
from apps.doors.sessions import session_bucket
from apps.live.hub import Hub
from apps.live.models import Run
from apps.workspace.port import DeploymentInfo
from tests.chat.scripts import (
    MANIFEST,
    PATIENCE,
    Scene,
    ScriptedWorkspace,
    Tab,
    counts,
    open_tab,
    says,
    settled,
    text_of,
)
from tests.contract import proves

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("nothing_predefined"),
    pytest.mark.postgres,
]

WORDS = "x" * 400
"""A text of a hundred tokens."""


@pytest.fixture(autouse=True)
def small_window(monkeypatch: pytest.MonkeyPatch) -> None:
    async def deployment(self: ScriptedWorkspace, deployment_id: str) -> DeploymentInfo:
        return DeploymentInfo(deployment_id, deployment_id, context_window=1000)

    monkeypatch.setattr(ScriptedWorkspace, "deployment", deployment)
    monkeypatch.setattr(ScriptedWorkspace, "facts", deployment)


def strategy(name: str) -> dict[str, Any]:
    return {**MANIFEST, "orchestrator": {**MANIFEST["orchestrator"], "context": {"strategy": name}}}


async def converse(tab: Tab, turns: int) -> str:
    for number in range(turns):
        await tab.exchange(f"question {number} {WORDS}", says(f"answer {number} {WORDS}"))
    return tab.conversation


def asked(on: Scene) -> list[list[str]]:
    return [[message.text for message in request.messages] for request in on.model.asked]


async def summaries_of(conversation: str) -> ConversationSummaries:
    row = await Conversation.objects.aget(pk=conversation)
    return ConversationSummaries(row.pk, await database_sync_to_async(path)(row))


def is_summary(request: list[str]) -> bool:
    return "<transcript>" in request[-1]


async def summaries(conversation: str) -> list[tuple[str, str]]:
    """Return each summary with the text of the last message that it covers."""
    rows = Message.objects.filter(conversation=UUID(conversation), role=Message.Role.SUMMARY)
    return [(text, end[:8]) async for text, end in rows.values_list("text", "parent__text")]


@proves("D-32")
async def test_the_summary_is_written_after_the_answer_that_makes_it_necessary():
    async with open_tab() as (on, tab):
        conversation = await converse(tab, 3)
        await tab.exchange(
            f"question 3 {WORDS}",
            says(f"answer 3 {WORDS}"),
            None,
            says("They talked."),
            conversation=conversation,
        )
        await settled(on.hub)
        frames = await tab.exchange("And now?", says("Fine."))

    assert [is_summary(request) for request in asked(on)] == [False] * 4 + [True, False]
    assert await summaries(conversation) == [("They talked.", "answer 1")]
    first, *_, last = asked(on)[-1]
    assert "They talked." in first
    assert "question 2" in first
    assert last == "And now?"
    assert not any(frame["type"] == "notice.added" for frame in frames)
    said = Message.objects.without_summaries().filter(conversation=UUID(conversation))
    assert await said.acount() == 10
    full = [row.usage["context"]["user"] async for row in said if row.role == "assistant"]
    assert full == sorted(full[:3]) + full[3:]
    assert full[3] < full[2]  # like the next request, with the summary


@proves("D-32")
async def test_a_summary_is_made_before_the_call_where_none_is_there_and_then_reused():
    async with open_tab() as (on, tab):
        conversation = await converse(tab, 3)
        frames = await tab.exchange(
            f"And now? {WORDS * 2}",
            says("They talked."),
            None,
            says("Fine."),
            conversation=conversation,
        )
        await tab.exchange("Sure?", says("Yes."))

    assert [is_summary(request) for request in asked(on)] == [False] * 3 + [True, False, False]
    [notice] = [frame["text"] for frame in frames if frame["type"] == "notice.added"]
    assert notice == "The beginning of this conversation was summarized for the model."
    assert text_of(frames) == "Fine."
    assert asked(on)[-1][: len(asked(on)[-2])] == asked(on)[-2]
    assert len(await summaries(conversation)) == 1


async def test_a_question_waits_for_the_summary_that_is_being_written():
    async with open_tab() as (on, tab):
        conversation = await converse(tab, 3)
        await tab.exchange(f"question 3 {WORDS}", says(f"answer 3 {WORDS}"))
        async with asyncio.timeout(PATIENCE):
            while len(on.model.asked) < 5:
                await asyncio.sleep(0)
        on.model.was_asked.clear()
        await tab.ask("And now?", conversation)
        await tab.until("run.status", status="running")
        on.model.put(says("They talked."), None, says("Fine."), None)
        frames = await tab.until_over()
        await settled(on.hub)

    assert text_of(frames) == "Fine."
    assert [is_summary(request) for request in asked(on)] == [False] * 4 + [True, False]
    assert len(await summaries(conversation)) == 1
    assert _being_written == {}


async def test_of_two_summaries_of_the_same_turns_one_is_kept():
    async with open_tab() as (_, tab):
        conversation = await converse(tab, 3)
        kept = await summaries_of(conversation)
        await kept.keep(ConversationSummary("First.", 2))
        await kept.keep(ConversationSummary("Second.", 2))
        await kept.keep(ConversationSummary("Less.", 1))
        await kept.keep(ConversationSummary("All of it.", 3))

        assert await kept.find() == ConversationSummary("First.", 2)
        assert await summaries(conversation) == [("First.", "answer 1")]


async def test_a_conversation_is_deleted_with_its_summaries():
    async with open_tab() as (_, tab):
        conversation = await converse(tab, 3)
        await (await summaries_of(conversation)).keep(ConversationSummary("They talked.", 2))

        await Conversation.objects.filter(pk=conversation).adelete()

        assert await Message.objects.filter(conversation=UUID(conversation)).acount() == 0


@proves("D-32")
async def test_a_process_that_ends_in_the_middle_leaves_its_summary_to_the_next():
    async with open_tab() as (on, tab):
        conversation = await converse(tab, 3)
        on.model.put(says("They talked."), None, says("Well"))
        await tab.ask(f"And now? {WORDS * 2}", conversation)
        await tab.until("message.delta")
        supervisor = next(iter(on.hub.supervisors.values()))
        supervisor.hand_over(PATIENCE)
        await settled(on.hub)
        on.model.put(says("Fine."), None)
        other = Hub()
        await sweeper(other, on.visitor.open_workspace).sweep()
        await settled(other)

    assert [is_summary(request) for request in asked(on)] == [False] * 3 + [True, False, False]
    assert asked(on)[-1] == asked(on)[-2]
    said = Message.objects.without_summaries().filter(conversation=UUID(conversation))
    assert await said.values_list("text", flat=True).alast() == "Fine."
    assert len(await summaries(conversation)) == 1


async def test_a_refusal_names_the_numbers_and_stores_the_question():
    async with open_tab(manifest=strategy("refuse")) as (on, tab):
        conversation = await converse(tab, 3)
        await tab.ask(f"question 3 {WORDS * 2}", conversation)
        frames = await tab.until_over()

    [error] = [frame["text"] for frame in frames if frame["type"] == "run.error"]
    assert error.startswith("This conversation is too long: it has about 8")
    assert "is 800" in error
    assert len(on.model.asked) == 3


@proves("D-30")
async def test_what_the_model_counted_corrects_the_next_conversation():
    async with open_tab(manifest=strategy("trim")) as (_, tab):
        await tab.exchange(f"question {WORDS}", says(f"answer {WORDS}"), counts(160, 1))
        answer = await Message.objects.aget(conversation=UUID(tab.conversation), role="assistant")

    known = answer.usage["context"]
    assert known["limit"] == 1000
    assert known["correction"] == pytest.approx(160 / 103)
    assert known["user"] == 160


async def open_usage(on: Scene, conversation: str, client: AsyncClient) -> Any:
    return await client.get(f"/chat/{on.application.slug}/{conversation}/usage/")


async def owned(conversation: str, client: AsyncClient) -> None:
    """Make the client's visitor the owner of the conversation."""
    session = await client.asession()
    bucket = session_bucket(session.session_key or "")
    await Conversation.objects.filter(pk=conversation).aupdate(owner=bucket)


@proves("D-31")
async def test_the_page_is_told_how_full_the_window_is_and_what_stands_for_the_beginning():
    client = AsyncClient()
    async with open_tab() as (on, tab):
        conversation = await converse(tab, 3)
        await tab.exchange(
            f"And now? {WORDS * 2}",
            says("They talked."),
            None,
            says("Fine."),
            conversation=conversation,
        )
        foreign = await open_usage(on, conversation, client)
        await owned(conversation, client)
        response = await open_usage(on, conversation, client)
        second = (
            await Run.objects.filter(stream=conversation)
            .order_by("started_at")
            .aget(message__text__startswith="answer 1")
        )

    told = response.json()
    assert foreign.status_code == 404
    assert set(told) == {
        *("system", "tools", "user", "assistant", "tool_results"),
        *("total", "limit", "ratio", "state", "summary", "sum"),
    }
    assert told["total"] == told["user"] + told["assistant"]
    assert told["limit"] == 1000
    assert told["ratio"] == told["total"] / 1000
    assert told["state"] == "ok"
    assert told["summary"]["text"] == "They talked."
    assert told["summary"]["after"] == str(second.pk)


@proves("D-31")
@pytest.mark.parametrize(
    ("total", "state"), [(800, "ok"), (801, "warning"), (950, "warning"), (951, "danger")]
)
async def test_the_page_is_warned_above_two_shares(total, state):
    client = AsyncClient()
    async with open_tab() as (on, tab):
        conversation = await converse(tab, 1)
        await owned(conversation, client)
        context = {"system": total, "tools": 0, "user": 0, "assistant": 0, "tool_results": 0}
        await Message.objects.filter(conversation=UUID(conversation), role="assistant").aupdate(
            usage={"context": {**context, "limit": 1000, "correction": 1.0}}
        )
        told = (await open_usage(on, conversation, client)).json()

    assert (told["total"], told["ratio"], told["state"]) == (total, total / 1000, state)


async def test_an_old_conversation_has_its_texts_alone():
    client = AsyncClient()
    async with open_tab() as (on, tab):
        conversation = await converse(tab, 1)
        await owned(conversation, client)
        await Message.objects.filter(conversation=UUID(conversation)).aupdate(usage={})
        told = (await open_usage(on, conversation, client)).json()

    assert (told["user"], told["assistant"], told["limit"], told["ratio"]) == (103, 103, None, None)
    assert (told["state"], told["summary"]) == ("unknown", None)


async def test_summaries_are_no_messages_for_export_and_search():
    async with open_tab() as (_, tab):
        conversation = await converse(tab, 3)
        await (await summaries_of(conversation)).keep(ConversationSummary("Zanzibar.", 2))

        def look() -> tuple[str, int]:
            found = Conversation.objects.select_related("application").get(pk=conversation)
            mine = Conversation.objects.filter(pk=conversation)
            return markdown(found), len(search_in(mine, "zanzibar", 5))

        text, hits = await database_sync_to_async(look)()

    assert ("Zanzibar" in text, hits) == (False, 0)
