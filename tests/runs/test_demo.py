"""The built-in application end to end: its model, its tools, and its service."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from functools import partial

import pytest
from asgiref.sync import sync_to_async

from apps.accounts.caller import Caller
from apps.agent.events import (
    Event,
    RunFinished,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
    StateSaved,
    TextDelta,
)
from apps.agent.messages import ModelMessage
from apps.agent.streams import stream
from apps.catalog.actions import republish
from apps.catalog.application_files.row_import import import_directories
from apps.catalog.models import Application, ContentItem
from apps.catalog.resolve import forget_applications, resolve_application
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from apps.workspace.local.workspace import LocalWorkspace

pytestmark = pytest.mark.django_db(transaction=True)

VISITOR = Caller("session-1")


@pytest.fixture(autouse=True)
def site(settings, live_server, monkeypatch):
    """Serve the real site with the built-in content."""
    settings.SITE_URL = live_server.url
    monkeypatch.setattr("apps.demo.model.WORD_SECONDS", 0)
    settings.ALLOWED_HOSTS = ["localhost"]
    import_directories(settings.PREDEFINED_DIR)


async def ask(*messages: ModelMessage) -> list[Event]:
    application = await resolve_application("demo")
    events: list[Event] = []
    async with asyncio.timeout(60):
        await run_application(
            application, RunRequest(messages), LocalWorkspace(VISITOR), VISITOR, events.append
        )
    return events


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def starters() -> dict[str, str]:
    application = await resolve_application("demo")
    offered = application.manifest.conversation_starters
    assert offered is not None
    return {starter.title: starter.text for starter in offered.starters}


async def test_the_starter_that_asks_for_several_things_calls_several_tools_at_once():
    events = await ask(ModelMessage("user", (await starters())["Several tools at once"]))

    titles: dict[str, str] = {}
    for event in events:
        if isinstance(event, StageOpened):
            titles[event.stage_id] = event.title
        if isinstance(event, StageRenamed):
            titles[event.stage_id] += event.suffix
    assert sorted(titles.values()) == ["Current time", "Weather in Lima", "Weather in Oslo"]
    assert [e.failed for e in events if isinstance(e, StageClosed)] == [False] * 3
    assert "https://" not in "".join(e.text for e in events if isinstance(e, StageDelta))
    text = text_of(events)
    assert text.index("**City:** Oslo") < text.index("**City:** Lima") < text.index("Asia/Tokyo")
    assert text.count("Demo data: made up") == 2
    assert isinstance(events[-2], StateSaved)
    assert isinstance(events[-1], RunFinished)
    assert events[-1].usage.input > 100


async def test_the_calls_of_an_answer_are_kept_for_the_next_question():
    question = ModelMessage("user", "How is the weather in Oslo?")
    events = await ask(question)
    (state,) = [event.state for event in events if isinstance(event, StateSaved)]
    answer = ModelMessage("assistant", text_of(events), state=json.loads(json.dumps(state)))

    again = await ask(question, answer, ModelMessage("user", "And the weather in Riga?"))

    assert "**City:** Riga" in text_of(again)
    assert "Oslo" not in text_of(again)
    (newer,) = [event.state for event in again if isinstance(event, StateSaved)]
    assert [len(found["tool_execution_history"]) for found in (state, newer)] == [4, 4]


async def test_a_tool_that_fails_is_told_by_the_answer():
    events = await ask(ModelMessage("user", "How is the weather in Atlantis and in Oslo?"))

    text = text_of(events)
    assert "(Atlantis) failed:" in text
    assert "404" in text
    assert "**City:** Oslo" in text


@pytest.mark.parametrize(
    ("title", "beginning"),
    [
        ("What can you do?", "I am the **built-in demo model**"),
        ("Formatted text", "# A heading"),
        ("A long answer", "# The postman of small hours"),
    ],
)
async def test_the_other_starters_are_answered_without_a_tool(title, beginning):
    events = await ask(ModelMessage("user", (await starters())[title]))

    assert text_of(events).startswith(beginning)
    assert not any(isinstance(event, StageOpened) for event in events)


async def test_the_introduction_names_the_tools_of_the_application():
    text = text_of(await ask(ModelMessage("user", "What can you do?")))

    assert "**Weather now**" in text
    assert "**Current time**" in text


async def test_a_long_answer_can_be_stopped(monkeypatch):
    monkeypatch.setattr("apps.demo.model.WORD_SECONDS", 60)
    application = await resolve_application("demo")
    request = RunRequest((ModelMessage("user", "Tell me a long story."),))
    start = partial(run_application, application, request, LocalWorkspace(VISITOR), VISITOR)

    async with asyncio.timeout(60):
        async with aclosing(stream(start)) as batches:
            first = await anext(batches)

    assert first == [TextDelta("# ")]


async def test_a_skill_of_the_operator_is_read_with_its_files():
    await ContentItem.objects.acreate(
        kind="skill",
        name="price-list",
        text="---\nname: price-list\ndescription: What things cost.\n---\nUse the rates.",
        files={"rates/2026.csv": "boat,90"},
    )
    demo = await Application.objects.aget(slug="demo")
    await sync_to_async(republish.execute)(demo, "A price list")
    forget_applications()  # cached within the last second

    events = await ask(ModelMessage("user", "Read rates/2026.csv of the skill price-list"))

    titles = [event.title for event in events if isinstance(event, StageOpened)]
    names = [event.suffix for event in events if isinstance(event, StageRenamed)]
    assert titles == ["Reading Skill:"] * 2
    assert names.count(" price-list") == 2
    answer = text_of(events)
    assert "Use the rates." in answer
    assert "<file>rates/2026.csv</file>" in answer
    assert "boat,90" in answer
