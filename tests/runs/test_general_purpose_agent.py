"""The built-in general-purpose agent end to end, with everything that needs no key."""

from __future__ import annotations

import asyncio
import re
import sys

import pytest

from apps.accounts.caller import Caller
from apps.agent.events import (
    Event,
    RunFinished,
    StageClosed,
    StageOpened,
    StateSaved,
    TextDelta,
)
from apps.agent.messages import Attachment, ModelMessage
from apps.catalog.application_files.row_import import import_directories
from apps.catalog.models import Application
from apps.catalog.resolve import forget_applications, resolve_application
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from apps.workspace.local.models import McpServer
from apps.workspace.local.workspace import LocalWorkspace
from tests.capabilities.mcp.calls.test_failure_texts import SEARCHING
from tests.capabilities.mcp.servers import nothing_left_over
from tests.contract import proves
from tests.fakes import ModelsWorkspace, ScriptedModel, saying

pytestmark = pytest.mark.django_db

ANN = Caller("user-7", "user", user_id=7)


@pytest.fixture(autouse=True)
def content(settings, monkeypatch):
    monkeypatch.setattr("apps.demo.model.WORD_SECONDS", 0)
    import_directories(settings.PREDEFINED_DIR)


async def ask(*messages: ModelMessage | str) -> list[Event]:
    asked = [ModelMessage("user", one) if isinstance(one, str) else one for one in messages]
    application = await resolve_application("general-purpose-agent")
    events: list[Event] = []
    async with asyncio.timeout(60):
        await run_application(
            application, RunRequest(tuple(asked)), LocalWorkspace(ANN), ANN, events.append
        )
    return events


def said(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def titles(events: list[Event]) -> list[str]:
    return [event.title for event in events if isinstance(event, StageOpened)]


@proves("G-01")
async def test_nothing_is_missing_as_it_is_shipped_g_01():
    events = await ask("What can you do?")

    assert titles(events) == []
    for name in ("Image generation tool", "Python interpreter", "Write file"):
        assert f"**{name}**" in said(events)
    assert isinstance(events[-1], RunFinished)


@proves("G-17")
async def test_a_drawn_picture_stands_in_the_answer_and_among_the_files():
    events = await ask("Draw a red boat")

    assert titles(events)[0].startswith("Making a picture")
    found = re.search(r"!\[a red boat\]\((files/[^)]+\.png)\)", said(events))
    assert found is not None
    kept = await LocalWorkspace(ANN).files.read(found[1])
    assert kept.content.startswith(b"\x89PNG")


async def test_the_model_knows_the_picture_in_the_next_question():
    question = ModelMessage("user", "Draw a red boat")
    events = await ask(question)
    (state,) = [event.state for event in events if isinstance(event, StateSaved)]
    answer = ModelMessage("assistant", said(events), state=state)

    again = await ask(question, answer, "Draw a blue one")

    assert said(again).count("![a blue one](files/") == 1
    assert "red" not in said(again)


@proves("G-18")
async def test_a_sum_is_computed():
    events = await ask("What is 17 * 23 + 4 ** 5?")

    assert "1415" in said(events)
    assert [event.failed for event in events if isinstance(event, StageClosed)] == [False]


@proves("G-02", "G-05")
async def test_another_model_is_asked_the_same_under_its_own_name_g_02():
    application = await Application.objects.aget(slug="general-purpose-agent")
    asked = []
    for name in ("gpt-4o", "claude"):
        application.manifest["orchestrator"]["deployment"] = {"deployment_id": name}
        await application.asave()
        forget_applications()
        model = ScriptedModel(saying("Fine."))
        workspace = ModelsWorkspace(ANN, {name: model})
        request = RunRequest((ModelMessage("user", "Hello"),))
        async with asyncio.timeout(60):
            await run_application(
                await resolve_application("general-purpose-agent"),
                request,
                workspace,
                ANN,
                lambda event: None,
            )
        (given,) = model.asked
        asked.append((given.messages[0], given.tools, given.parameters))
        roles = [message.role for message in given.messages]
        assert (roles[0], roles.count("system")) == ("system", 1)

    assert asked[0] == asked[1]


async def test_the_web_is_searched_once_a_program_for_it_is_registered():
    await McpServer.objects.acreate(
        name="duckduckgo", command=sys.executable, arguments=[SEARCHING, "stdio"]
    )

    async with nothing_left_over():
        events = await ask("Search the web for harbours.")

    assert [event.failed for event in events if isinstance(event, StageClosed)] == [False]
    assert "Found 10 results" in said(events)


async def test_what_a_person_tells_is_remembered_in_the_next_conversation():
    told = await ask("I live in Paris.")
    asked = await ask("Where do I live?")

    assert [event.failed for event in told if isinstance(event, StageClosed)] == [False]
    assert "I live in Paris." in said(asked)


async def test_an_attached_document_is_asked():
    files = LocalWorkspace(ANN).files
    text = b"The notice period is three months.\n\nThe rent is due on Mondays."
    info = await files.keep("lease.txt", text, "text/plain")
    attached = (Attachment("text/plain", "lease.txt", url=info.path),)

    events = await ask(ModelMessage("user", "How long is the notice period?", attachments=attached))

    assert [event.failed for event in events if isinstance(event, StageClosed)] == [False]
    assert "- The notice period is three months. [1]" in said(events)
