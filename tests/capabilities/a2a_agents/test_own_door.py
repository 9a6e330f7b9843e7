"""Applications of an installation, called as agents over its own door."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from channels.routing import URLRouter

from apps.agent.events import AttachmentAdded, Event, StageDelta
from apps.agent.messages import Attachment
from apps.agent.tools import Tool
from apps.conversations.models import Message
from apps.gateway import routing as gateway
from apps.live.models import Run
from tests.a2a.scripts import Agent, agent_scene
from tests.capabilities.a2a_agents.agents import tool_of
from tests.capabilities.asgi_sites import served
from tests.capabilities.manifests import Files, stage_text, use
from tests.chat.scripts import PATIENCE, Scene, says

pytestmark = [pytest.mark.django_db, pytest.mark.postgres, pytest.mark.usefixtures("loopback")]


@asynccontextmanager
async def own_agent(settings: Any, **fields: Any) -> AsyncIterator[tuple[Scene, Tool, Files]]:
    files = Files()
    async with agent_scene() as (on, agent), served(site_of(agent)) as url:
        settings.PUBLIC_URL = url
        how = {"type": "bearer", "token": agent.key}
        address = f"{url}/a2a/{on.application.slug}"
        async with tool_of(address, files=files, authorization=how, **fields) as tool:
            yield on, tool, files


def site_of(agent: Agent) -> URLRouter:
    """The door, and the addresses of files."""
    return URLRouter([*agent.routes.routes, *gateway.urlpatterns])


async def test_the_answer_of_an_application_is_shown_while_it_arrives(settings):
    events: list[Event] = []
    arrived = asyncio.Event()

    def emit(event: Event) -> None:
        events.append(event)
        if isinstance(event, StageDelta) and event.text == "Hel":
            arrived.set()

    async with own_agent(settings) as (on, tool, _):
        asking = asyncio.create_task(use(tool, emit, query="Hi"))
        on.model.put(says("Hel"))
        async with asyncio.timeout(PATIENCE):
            await arrived.wait()
        on.model.put(says("lo"), None)
        result = await asking

    assert result.content == "Hello\n\n[session_id: call-1]"
    assert stage_text(events).endswith("#### Response:\nHello")
    assert [one.text for one in on.model.asked[0].messages if one.role == "user"] == ["Hi"]


async def test_files_are_exchanged_with_an_application(settings):
    async with own_agent(settings) as (on, tool, files):
        picture = Attachment("text/csv", "table.csv", data="a,b")
        on.model.put(says("See"), AttachmentAdded(picture), None)
        url = "data:text/plain,Hello"
        result = await use(tool, query="Hi", attachment_urls=[url])

    assert [(one.type, one.title) for one in result.attachments] == [("text/csv", "table.csv")]
    assert [content for content, _ in files.kept.values()] == [b"a,b"]
    asked = await Message.objects.aget(role=Message.Role.USER)
    assert [one["type"] for one in asked.attachments] == ["text/plain"]


async def test_a_call_that_is_canceled_stops_the_task(settings):
    async with own_agent(settings) as (on, tool, _):
        asking = asyncio.create_task(use(tool, query="Hi"))
        async with asyncio.timeout(PATIENCE):
            await on.model.was_asked.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await on.model.was_cancelled.wait()
        [run] = [run async for run in Run.objects.all()]

    assert run.status == Run.Status.STOPPED
