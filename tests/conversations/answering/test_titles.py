"""A model writes the title during the first answer."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from channels.db import database_sync_to_async

from apps.conversations.answering.titles import read_title
from apps.conversations.keeping import arrangement
from apps.conversations.models import Conversation
from apps.errors import ModelFailed
from apps.insights.models import ModelCall
from apps.insights.prices import PRICES
from tests.catalog.rows import make_deployment
from tests.chat.scripts import (
    MANIFEST,
    PacedModel,
    ScriptedWorkspace,
    counts,
    open_tab,
    says,
    settled,
    text_of,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_predefined")]

TITLED: dict[str, Any] = {**MANIFEST, "features": {"titles": {"deployment_id": "small"}}}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> PacedModel:
    """The model that writes titles, in addition to the one that answers."""
    found = PacedModel()

    async def model(self: ScriptedWorkspace, deployment_id: str, **wishes: object) -> PacedModel:
        return found if deployment_id == "small" else self.paced

    monkeypatch.setattr(ScriptedWorkspace, "model", model)
    return found


DEFAULTS = [("auto", True, 2), ("auto", False, 1), ("question", True, 1), ("model", False, 2)]


async def title_of(conversation: str) -> str:
    return (await Conversation.objects.aget(pk=UUID(conversation))).title


async def test_the_title_is_written_beside_the_first_answer_and_counted_by_itself(small):
    async with open_tab(manifest=TITLED) as (on, tab):
        small.put(says('**Title: "Bread without\nyeast."**'), counts(20, 4), None)
        question = "How do I bake bread when I have no yeast at all?"
        first = await tab.exchange(question, says("Use soda."), counts(9, 3))
        await tab.exchange("And else?", says("Buttermilk."))
        await settled(on.hub)

    assert await title_of(tab.conversation) == "Bread without"
    assert text_of(first) == "Use soda."
    [request] = small.asked
    assert request.messages[1].text == question
    calls = ModelCall.objects.filter(conversation=UUID(tab.conversation)).order_by(
        "started_at", "pk"
    )
    assert sorted(
        [(row.deployment, row.purpose, row.input_tokens) async for row in calls], key=str
    ) == [("paced", None, 9), ("paced", None, None), ("small", "title", 20)]


async def test_a_title_that_a_person_gave_meanwhile_stays(small):
    async with open_tab(manifest=TITLED) as (on, tab):
        await tab.exchange("How do I bake bread?", says("Use soda."))
        row = await Conversation.objects.aget(pk=UUID(tab.conversation))
        await database_sync_to_async(arrangement.change)(row, title="Mine")
        small.put(says("Bread without yeast"), None)
        await settled(on.hub)

    assert await title_of(tab.conversation) == "Mine"


async def test_a_model_that_fails_costs_neither_the_answer_nor_the_title(small):
    async with open_tab(manifest=TITLED) as (on, tab):
        small.put(ModelFailed("Overloaded.", reason="status", status=529))
        frames = await tab.exchange("How do I bake bread?", says("Use soda."))
        await settled(on.hub)

    assert (text_of(frames), await title_of(tab.conversation)) == (
        "Use soda.",
        "How do I bake bread?",
    )


@pytest.mark.parametrize("titles", [None, {"enabled": False}])
async def test_without_the_operator_no_model_is_asked(small, titles):
    manifest = {**MANIFEST, "features": {"titles": titles}}
    async with open_tab(manifest=manifest) as (on, tab):
        await tab.exchange("How do I bake bread?", says("Use soda."))
        await settled(on.hub)

    assert len(on.model.asked) == 1
    assert small.asked == []
    assert await title_of(tab.conversation) == "How do I bake bread?"


@pytest.mark.parametrize(("setting", "is_known", "calls"), DEFAULTS)
async def test_by_default_a_model_of_the_installation_writes_titles(
    small, settings, monkeypatch, setting, is_known, calls
):
    monkeypatch.setattr(PRICES, "services", {})
    monkeypatch.setattr(PRICES, "read_at", None)
    settings.CONVERSATION_TITLES = setting
    if is_known:
        await database_sync_to_async(make_deployment)(
            "paced", provider="openai", base_url="http://127.0.0.1:9/v1"
        )
    async with open_tab() as (on, tab):
        await tab.exchange("How do I bake bread?", says("Soda bread"), None, says("Soda bread"))
        await settled(on.hub)

    assert len(on.model.asked) == calls
    assert await title_of(tab.conversation) == (
        "Soda bread" if calls == 2 else "How do I bake bread?"
    )


async def test_the_installation_may_wish_for_titles_of_all_applications(small, settings):
    settings.CONVERSATION_TITLES = "model"
    async with open_tab() as (on, tab):
        await tab.exchange("How do I bake bread?", says("Soda bread"), None, says("Soda bread"))
        await settled(on.hub)

    assert len(on.model.asked) == 2
    assert await title_of(tab.conversation) == "Soda bread"


TITLES = {
    "Soda bread": "Soda bread",
    "# «Хлеб без дрожжей».": "Хлеб без дрожжей",
    "Titel: Brot ohne Hefe\n\nHier ist ein Rezept": "Brot ohne Hefe",
    "面包怎么做。": "面包怎么做",
    "Bread\x00\x1b[31m with\u2028lines": "Bread\N{REPLACEMENT CHARACTER} [31m with",
    "  \n ": "",
    '""': "",
    "To bake bread without yeast you can use soda and buttermilk, which rise at once": "",
    "x" * 500: "",
}
"""Texts of models, each with the title that is read from it."""


def test_what_a_model_writes_is_read_as_one_short_line():
    assert {written: read_title(written) for written in TITLES} == TITLES
