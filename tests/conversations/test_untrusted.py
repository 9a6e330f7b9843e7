"""On the page, the next question takes untrusted content into account, and the card mentions it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from apps.capabilities import preparation
from apps.conversations.answering.continuation import sweeper
from apps.live.hub import Hub
from apps.live.models import Interaction
from tests.chat.scripts import MANIFEST, open_tab, settled
from tests.fakes import calling, saying
from tests.runs.test_taint import BECAUSE, Made

pytestmark = pytest.mark.django_db

PROMPT = {"type": "custom", "content": "You help.", "variables": {}}
GUARDED: dict[str, Any] = {
    **MANIFEST,
    "orchestrator": {**MANIFEST["orchestrator"], "system_prompt": PROMPT},
    "features": {"approval": {"after_untrusted": "confirm", "always": ["application"]}},
}


@pytest.fixture(autouse=True)
def _with_a_market(settings: Settings) -> Iterator[None]:
    Made.payments.clear()
    settings.CAPABILITIES = [*settings.CAPABILITIES, "tests.runs.test_taint.MARKET"]
    preparation.capabilities.cache_clear()
    yield
    preparation.capabilities.cache_clear()


async def test_the_next_question_waits_with_the_reason_and_another_process_goes_on():
    async with open_tab(manifest=GUARDED) as (on, tab):
        await tab.exchange(
            "Look around.", *calling(("l", "look", {})), None, *saying("I have looked.")
        )
        await settled(on.hub)
        on.model.put(*calling(("p", "pay", {})), None)
        await tab.ask("Pay.", tab.conversation)
        frames = await tab.until("run.status", status="waiting")
        [requested] = [one for one in frames if one["type"] == "interaction.requested"]
        await settled(on.hub)
        after_reload = await on.visitor.tab(Hub())
        await after_reload.open(tab.conversation)
        seen = await after_reload.until("run.status", status="waiting")
        before = dict(Made.payments)
        answer = {"outcome": "approved", "arguments": {}}
        key = {name: requested[name] for name in ("run", "key", "kind")}
        await after_reload.send_json_to({"type": "answer", **key, "answer": answer})
        await after_reload.until("interaction.resolved")
        on.model.put(*saying("Paid."), None)
        other = Hub()
        await sweeper(other, on.visitor.open_workspace).sweep()
        await settled(other)

    row = await Interaction.objects.aget()
    assert row.asked == {
        "title": "Pay",
        "name": "pay",
        "arguments": {},
        "editable": {},
        "risk": "changes",
        "always": [],
        "four_eyes": False,
        "because": BECAUSE,
    }
    assert requested["asked"] == row.asked
    assert [one["asked"] for one in seen if one["type"] == "interaction.requested"] == [row.asked]
    assert (before, Made.payments) == ({}, {"p": 1})
