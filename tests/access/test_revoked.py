"""Open pages and running answers end when a user loses access to an application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.utils import timezone

from apps.catalog.models import Grant
from apps.conversations.answering.continuation import sweeper
from apps.live.hub import Hub
from apps.live.models import Run
from tests.chat.scripts import Scene, Tab, says, scene
from tests.contract import proves

pytestmark = pytest.mark.django_db


@asynccontextmanager
async def granted() -> AsyncIterator[tuple[Scene, Tab]]:
    """Return a user whose only access to the application is a grant."""
    async with scene(is_public=False, is_shared=False) as on:
        on.visitor.user = await sync_to_async(User.objects.create_user)("grace")
        await Grant.objects.acreate(application=on.application, user=on.visitor.user)
        yield on, await on.visitor.tab(on.hub)


@proves("access")
async def test_the_next_question_of_an_open_page_is_refused_as_for_a_missing_application():
    async with granted() as (on, tab):
        await tab.exchange("Count.", says("one"))
        await Grant.objects.all().adelete()

        refused, continued = await tab.refusal(), await tab.refusal(conversation=tab.conversation)

    slug = on.application.slug
    text = f"There is no application named '{slug}' that you may use."
    assert refused == {"type": "error", "text": text, "code": "DeploymentNotFound"}
    assert continued["code"] == "application_unavailable"
    assert continued["text"].startswith("The app “Demo” isn’t available to you. You can still read")


@proves("access")
async def test_an_answer_whose_process_died_does_not_go_on_for_who_lost_the_application():
    async with granted() as (on, tab):
        on.model.put(says("one"))
        await tab.ask("Count.")
        await tab.until("message.delta")
        await Run.objects.aupdate(beat_at=timezone.now() - timedelta(seconds=60))
        await Grant.objects.all().adelete()

        await sweeper(Hub(), on.visitor.open_workspace).sweep()
        frames = await tab.until_over()

    assert (await Run.objects.aget()).status == "failed"
    assert len(on.model.asked) == 1
    [told] = [frame for frame in frames if frame["type"] == "run.error"]
    assert "that you may use" in told["text"]
