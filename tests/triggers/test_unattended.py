"""Runs without a user: nobody approves their calls, and waiting approvals expire."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.utils import timezone
from pytest_django.fixtures import Settings

from apps.capabilities import preparation
from apps.live.interactions import answer_due
from apps.live.models import Interaction, Run
from tests.chat.scripts import MANIFEST, scene
from tests.contract import proves
from tests.fakes import calling, saying
from tests.runs.test_taint import Made
from tests.triggers.programs import Program, amake_webhook, sweep

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_predefined")]

GUARDED: dict[str, Any] = {**MANIFEST, "features": {"approval": {"after_untrusted": "confirm"}}}


@pytest.fixture(autouse=True)
def _with_a_market(settings: Settings) -> Iterator[None]:
    Made.payments.clear()
    settings.CAPABILITIES = [*settings.CAPABILITIES, "tests.runs.test_taint.MARKET"]
    preparation.capabilities.cache_clear()
    yield
    preparation.capabilities.cache_clear()


@proves("webhooks")
async def test_what_a_webhook_sent_makes_changes_wait_and_without_an_answer_they_are_denied():
    async with scene(manifest=GUARDED) as on:
        webhook, secret = await amake_webhook(on.application, answer_minutes=90)
        on.model.put(*calling(("p", "pay", {})), None)

        await Program(webhook, secret, on.hub).send()
        before = timezone.now()
        await sweep(on)
        waiting, asked = await Run.objects.aget(), await Interaction.objects.aget()
        await Interaction.objects.all().aupdate(due_at=timezone.now())
        await database_sync_to_async(answer_due)()
        on.model.put(*saying("Nobody approved it."), None)
        await sweep(on)

    assert waiting.status == "waiting"
    assert asked.asked["because"].endswith("untrusted content: the webhook “Orders”.")
    assert asked.due_at is not None
    assert timedelta(minutes=90) <= asked.due_at - before < timedelta(minutes=92)
    assert (await Run.objects.aget()).status == "done"
    assert Made.payments == {}
    assert "nobody approved this call in time" in on.model.asked[-1].messages[-1].content


@proves("webhooks")
async def test_without_minutes_it_waits_without_an_end():
    async with scene(manifest=GUARDED) as on:
        webhook, secret = await amake_webhook(on.application)
        on.model.put(*calling(("p", "pay", {})), None)

        await Program(webhook, secret, on.hub).send()
        await sweep(on)

    assert (await Interaction.objects.aget()).due_at is None
    assert Made.payments == {}
