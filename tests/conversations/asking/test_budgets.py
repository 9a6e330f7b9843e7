"""Messages about budgets for users of the page."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth import get_user_model

from apps.conversations.models import Conversation, Message, QueuedMessage
from apps.insights.budgets.models import BudgetWindow
from tests.chat.scripts import counts, open_tab, says, scene, settled
from tests.contract import proves
from tests.conversations.asking.test_queue import typing
from tests.insights.budgets.rows import make_budget
from tests.task_api.test_tasks import Program

pytestmark = pytest.mark.django_db

make = sync_to_async(make_budget)


def of_type(frames: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [frame for frame in frames if frame["type"] == kind]


@proves("budgets")
async def test_a_question_is_refused_at_once_and_nothing_of_it_is_stored():
    await make(amount=0)
    async with open_tab() as (_, tab):
        refused = await tab.refusal()

    assert refused["code"] == "insufficient_quota"
    assert refused["text"].startswith(
        "This app’s daily budget is used up: 0 of 0 tokens left. The budget renews on "
    )
    assert await Conversation.objects.acount() == 0


async def test_what_was_answered_before_the_end_of_a_budget_stays():
    await make("run", 100)
    async with open_tab() as (on, tab):
        first = await tab.exchange("Hello?", says("A beginning."), counts(90, 20))
        await settled(on.hub)

    assert of_type(first, "run.error") == []
    assert await Message.objects.filter(role="assistant", text="A beginning.").aexists()


@proves("budgets")
async def test_the_soft_line_is_told_once_in_a_conversation():
    await make(amount=1000, soft_amount=0)
    async with open_tab() as (on, tab):
        notices, conversation = [], None
        for _ in range(2):
            on.model.put(says("Yes."), counts(10, 5), None)
            conversation = await tab.ask("Hello?", conversation)
            notices.append(of_type(await tab.until_over(), "notice.added"))

    assert [len(found) for found in notices] == [1, 0]
    assert notices[0][0]["text"].startswith(
        "0% of this app’s daily budget has been used: 1,000 of 1,000 tokens left."
    )


async def test_a_queued_message_is_held_with_the_reason():
    await make(amount=50)
    async with scene() as on:
        it = await typing(on)
        await it.send("Two")
        await it.queue("Two")
        on.model.put(says("Yes."), counts(100, 5), None)
        await it.tab.until_over()
        await settled(on.hub)

    row = await QueuedMessage.objects.aget()
    assert row.is_held
    assert row.problem.startswith("This app’s daily budget is used up")


async def test_a_program_is_told_with_429():
    await make(amount=0)
    async with scene() as on:
        program = Program(on)
        status, body = await program.request(
            "POST", "SubmitMessage", {"application": on.application.slug, "text": "Hello"}
        )

    assert (status, body["error"]["code"]) == (429, "insufficient_quota")


async def test_a_person_counts_in_a_budget_of_their_own():
    anna = await get_user_model().objects.acreate(username="anna")
    await make("user", 1000)
    async with scene() as on:
        on.visitor.user = anna
        tab = await on.visitor.tab(on.hub)
        await tab.exchange("Hello?", says("Yes."), counts(10, 5))
        await settled(on.hub)

    window = await BudgetWindow.objects.aget()
    assert (window.holder, window.spent, window.reserved) == (f"user-{anna.pk}", 15, 0)


async def test_the_account_menu_tells_people_of_their_own_budgets(client):
    person = await get_user_model().objects.acreate(username="anna")
    await make("user", 1000)
    await make("application", 1000)

    await sync_to_async(client.force_login)(person)
    page = (await sync_to_async(client.get)("/")).text

    assert page.count("account-budget") == 1
    assert "0% of your daily budget has been used: 1,000 of 1,000 tokens left." in page
