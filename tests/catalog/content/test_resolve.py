"""An application resolves predefined content, from its row to its answer."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import time_machine
from asgiref.sync import sync_to_async

from apps.accounts.caller import Caller
from apps.agent.events import Event, StageClosed, StageDelta, StageOpened
from apps.agent.messages import ModelMessage
from apps.catalog import resolve as catalog
from apps.catalog.actions import publish
from apps.catalog.content.installed import expire_content
from apps.catalog.content.models import ContentItem
from apps.catalog.models import Application
from apps.catalog.resolve import resolve_application
from apps.errors import ApplicationBroken
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from tests.catalog.content.files import write
from tests.catalog.rows import make_application, manifest_with
from tests.contract import proves
from tests.fakes import FakeWorkspace, ScriptedModel, calling, saying
from tests.manifest.documents import orchestrator, rest_tool, rest_tools

pytestmark = pytest.mark.django_db

CALLER = Caller("user-7")
MODEL = {"deployment_id": "gpt"}
PROMPT = {"type": "predefined", "template": "polite"}


async def make(**members: object) -> Application:
    document = manifest_with(**{"orchestrator": {"deployment": MODEL}, "features": None, **members})
    return await sync_to_async(make_application)("harbour", manifest=document)


def grow_old() -> None:
    for kept in catalog._kept.values():
        kept.checked_at = 0.0
    expire_content()


async def ask(model: ScriptedModel) -> list[Event]:
    workspace = FakeWorkspace(CALLER)
    workspace.models = {"gpt": model}
    events: list[Event] = []
    request = RunRequest((ModelMessage("user", "How is Oslo?"),))
    async with asyncio.timeout(60):
        await run_application(
            await resolve_application("harbour"), request, workspace, CALLER, events.append
        )
    return events


async def test_today_is_the_day_of_the_answer_and_not_of_the_first_one(tmp_path, settings):
    settings.PREDEFINED_DIR = write(tmp_path, prompt__polite='On {today}: be {kind}, {"a": 1}.')
    await make(orchestrator={"deployment": MODEL, "system_prompt": PROMPT})
    model = ScriptedModel(saying("Fine."), saying("Fine."))

    for moment in ("2026-03-24T23:59:59Z", "2026-03-25T00:00:01Z"):
        with time_machine.travel(moment, tick=False):
            await ask(model)

    assert [request.messages[0].text for request in model.asked] == [
        'On 2026-03-24: be {kind}, {"a": 1}.',
        'On 2026-03-25: be {kind}, {"a": 1}.',
    ]


async def test_a_changed_file_reaches_an_application_by_publishing(tmp_path, settings):
    settings.PREDEFINED_DIR = write(tmp_path, prompt__polite="Be polite.")
    row = await make(orchestrator={"deployment": MODEL, "system_prompt": PROMPT})
    first = await resolve_application("harbour")

    write(tmp_path, prompt__polite="Be very polite.")
    grow_old()
    before = await resolve_application("harbour")
    await sync_to_async(publish.execute)(row, "A politer prompt")
    grow_old()
    after = await resolve_application("harbour")

    assert first.manifest.orchestrator.system_prompt.content == "Be polite."
    assert before.manifest.orchestrator.system_prompt.content == "Be polite."
    assert (before.number, after.number) == (1, 2)
    assert after.manifest.orchestrator.system_prompt.content == "Be very polite."
    grow_old()
    assert await resolve_application("harbour") is after


@proves("m4.3")
@pytest.mark.parametrize("files", [{}, {"prompt__polite": ""}, {"prompt__polite": b"\xff"}])
async def test_an_application_that_has_lost_its_prompt_does_not_answer(tmp_path, settings, files):
    settings.PREDEFINED_DIR = write(tmp_path, **files)
    await make(orchestrator=orchestrator(system_prompt=PROMPT))

    with pytest.raises(ApplicationBroken) as broken:
        await resolve_application("harbour")

    (problem,) = broken.value.problems
    assert problem.startswith("orchestrator.system_prompt.template: ")
    assert "polite" in problem


@proves("m4.3")
async def test_what_cannot_be_resolved_is_told_once_and_the_rest_goes_on(tmp_path, settings):
    ship = rest_tool("ship", type="restapi-tool")
    settings.PREDEFINED_DIR = write(tmp_path, tool__ship=ship, toolset__bad={"type": "rest-api"})
    await make(
        tool_sets=[
            {"type": "predefined", "template_name": "bad"},
            rest_tools({"template_name": "sheep"}, {"template_name": "ship"}, name="Port"),
        ]
    )
    model = ScriptedModel(saying("Fine."))

    events = await ask(model)

    assert [spec.name for spec in model.asked[0].tools] == ["Port_ship"]
    stage, text, closed = events[:3]
    assert stage == StageOpened("initialization-issues", "Initialization issues")
    assert isinstance(text, StageDelta)
    assert text.text == (
        "#### Tool initialization\n\n"
        "- Toolset bad: tool_sets[0]: The predefined toolset 'bad' is not valid.\n"
        "  - name: is missing; write a string or an object\n"
        "  - tools: is missing; write a list\n"
        "- Toolset Port: tool_sets[1].tools[0]: There is no predefined tool 'sheep'; did you mean 'ship'?\n"
    )
    assert isinstance(closed, StageClosed)
    assert closed.failed


@proves("m4.5")
async def test_the_built_in_weather_works_as_it_is(settings, live_server):
    settings.SITE_URL = live_server.url
    settings.ALLOWED_HOSTS = ["localhost"]
    await make(tool_sets=[{"type": "predefined", "template_name": "weather"}])
    model = ScriptedModel(calling(("1", "Weather_now", {"city": "Oslo"})), saying("Fine."))

    await ask(model)

    assert '"city": "Oslo"' in model.asked[1].messages[-1].text


@proves("m4.5")
@pytest.mark.parametrize("name", ["gpt_prompt", "anthropic_prompt", "gemini_prompt"])
async def test_the_built_in_prompts_know_the_day_and_leave_nothing_to_fill_in(name):
    prompt = {"type": "predefined", "template": name}
    await make(orchestrator={"deployment": MODEL, "system_prompt": prompt})
    model = ScriptedModel(saying("Fine."))

    with time_machine.travel("2026-03-24T12:00:00Z", tick=False):
        await ask(model)

    text = model.asked[0].messages[0].text
    assert "Today is 2026-03-24 (UTC)." in text
    assert not set("{}") & set(text)


@proves("m4.5")
async def test_a_prompt_of_the_database_is_filled_in_as_one_of_a_file_is(tmp_path, settings):
    settings.PREDEFINED_DIR = write(tmp_path)
    settings.PROMPT_VARIABLES = {"company": "Harbour Ltd"}
    text = "{company}, {today}, {locale}: {unknown} {}"
    await ContentItem.objects.acreate(kind="prompt", name="greeting", text=text)
    prompt = {"type": "predefined", "template": "greeting"}
    await make(orchestrator={"deployment": MODEL, "system_prompt": prompt})
    model = ScriptedModel(saying("Fine."))

    with time_machine.travel("2026-03-24T12:00:00Z", tick=False):
        await ask(model)

    assert model.asked[0].messages[0].text == "Harbour Ltd, 2026-03-24, en: {unknown} {}"


def test_the_built_in_content_names_no_service_of_others():
    root = Path(__file__).resolve().parents[3] / "predefined"
    files = [path for path in root.rglob("*") if path.suffix in {".md", ".json"}]

    assert [path for path in files if "://" in path.read_text(encoding="utf-8")] == []
