"""Applications of an installation, called over its own Responses API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from channels.routing import URLRouter
from django.urls import re_path

from apps.accounts.caller import Caller
from apps.agent.events import Event, StageDelta
from apps.agent.tools import Tool
from apps.responses.consumers import ResponseConsumer
from tests.a2a.scripts import agent_scene
from tests.capabilities.asgi_sites import served
from tests.capabilities.manifests import stage_text, use
from tests.capabilities.responses_agents.test_calls import tool_of
from tests.chat.scripts import PATIENCE, Scene, says

pytestmark = [pytest.mark.django_db, pytest.mark.postgres, pytest.mark.usefixtures("loopback")]


@asynccontextmanager
async def own_agent() -> AsyncIterator[tuple[Scene, Tool]]:
    async with agent_scene() as (on, agent):
        workspace = on.visitor.open_workspace(Caller(""))
        options: Any = {"hub": on.hub, "open_workspace": lambda *_: workspace}
        door: Any = ResponseConsumer.as_asgi(**options)
        async with served(URLRouter([re_path("^v1/responses$", door)])) as url:
            how = {"type": "bearer", "token": agent.key}
            model = on.application.slug
            async with tool_of(f"{url}/v1", model=model, authorization=how) as tool:
                yield on, tool


async def test_the_answer_of_an_application_is_shown_while_it_arrives():
    events: list[Event] = []
    arrived = asyncio.Event()

    def emit(event: Event) -> None:
        events.append(event)
        if isinstance(event, StageDelta) and event.text == "Hel":
            arrived.set()

    async with own_agent() as (on, tool):
        asking = asyncio.create_task(use(tool, emit, query="Hi"))
        on.model.put(says("Hel"))
        async with asyncio.timeout(PATIENCE):
            await arrived.wait()
        on.model.put(says("lo"), None)
        result = await asking

    assert result.content == "Hello\n\n[session_id: call-1]"
    assert stage_text(events).endswith("#### Response:\nHello")
    assert [one.text for one in on.model.asked[0].messages if one.role == "user"] == ["Hi"]


async def test_a_call_that_is_canceled_stops_the_run():
    async with own_agent() as (on, tool):
        asking = asyncio.create_task(use(tool, query="Hi"))
        async with asyncio.timeout(PATIENCE):
            await on.model.was_asked.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await on.model.was_cancelled.wait()
