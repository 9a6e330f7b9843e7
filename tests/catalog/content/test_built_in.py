"""Every built-in item is complete, and its tools do what they are for."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from apps.accounts.caller import Caller
from apps.agent.events import AttachmentAdded, Event, StageOpened, TextDelta
from apps.agent.messages import Attachment, ModelMessage
from apps.capabilities.wrappers.attachments import SEE_PICTURES
from apps.catalog.content.installed import directories, installed_content
from apps.catalog.content.layers import read_layers
from apps.catalog.content.references import resolve_references
from apps.catalog.models import Application
from apps.catalog.resolve import resolve_application
from apps.manifest.validation.validation import read_manifest
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from tests.catalog.rows import manifest_with, store_application
from tests.contract import proves
from tests.fakes import FakeWorkspace, ScriptedModel, calling, saying
from tests.manifest.documents import manifest

CALLER = Caller("user-7")
CONTENT = read_layers(directories()[:1])
HUB = ("rag_search_tool", "image_generation_tool", "web_search_tool")


@proves("m4.5", "D-50")
def test_there_is_what_manifests_written_elsewhere_refer_to():
    assert {
        kind: set(items)
        for kind, items in CONTENT.items.items()
        if kind not in ("skill", "place", "agent")
    } == {
        "prompt": {
            "gpt_prompt",
            "anthropic_prompt",
            "gemini_prompt",
            "general_purpose_agent",
            "memory_rules",
        },
        "tool": {
            "dial_rag",
            "image_generation",
            "image_generation_tool",
            "location",
            "py_interpreter",
            "weather",
            "web_search",
        },
        "toolset": {
            "chathub",
            "duckduckgo",
            "git",
            "location",
            "page",
            "pictures",
            "py_interpreter",
            "py_interpreter_mcp",
            "weather",
            "web_search",
        },
    }


@proves("m4.5", "D-50")
def test_every_toolset_resolves_as_it_is(subtests: pytest.Subtests):
    for name in CONTENT.items["toolset"]:
        with subtests.test(name=name):
            document = manifest(tool_sets=[{"type": "predefined", "template_name": name}])

            assert resolve_references(read_manifest(document), CONTENT).problems == ()


@proves("m4.5", "G-55")
def test_every_tool_resolves_in_a_toolset_of_its_kind(subtests: pytest.Subtests):
    for name in CONTENT.items["tool"]:
        with subtests.test(name=name):
            kinds = {"restapi-tool": "rest-api", "deployment-tool": "dial-deployment"}
            kind = kinds.get(CONTENT.items["tool"][name].value["type"], "internal")
            toolset = {"type": kind, "name": "own", "tools": [{"template_name": name}]}

            found = resolve_references(read_manifest(manifest(tool_sets=[toolset])), CONTENT)

            assert found.problems == ()
            [tool] = found.manifest.model_dump()["tool_sets"][0]["tools"]
            function = CONTENT.items["tool"][name].value["open_ai_tool"]["function"]
            assert tool["open_ai_tool"]["function"]["name"] == function["name"]


@proves("G-13")
def test_descriptions_are_short_enough_for_every_model(subtests: pytest.Subtests):
    for name in CONTENT.items["tool"]:
        with subtests.test(name=name):
            function = CONTENT.items["tool"][name].value["open_ai_tool"]["function"]
            parameters = function["parameters"]["properties"].values()

            assert len(function["description"]) <= 1024
            assert all(0 < len(parameter["description"]) <= 1024 for parameter in parameters)


async def ask(
    toolset: str, models: dict[str, ScriptedModel], events: list[Event] | None = None
) -> ScriptedModel:
    reference = {"type": "predefined", "template_name": toolset}
    orchestrator = {"deployment": {"deployment_id": "gpt"}}
    document = manifest_with(orchestrator=orchestrator, tool_sets=[reference], features=None)
    await sync_to_async(store_application)(slug="it", title="It", manifest=document)
    workspace = FakeWorkspace(CALLER)
    workspace.models = models
    events = [] if events is None else events
    request = RunRequest((ModelMessage("user", "Please."),))
    async with asyncio.timeout(60):
        await run_application(
            await resolve_application("it"), request, workspace, CALLER, events.append
        )
    return models["gpt"]


@proves("m4.5")
@pytest.mark.django_db
async def test_the_hub_asks_its_deployments_for_what_the_model_wants():
    picture = {"query": "A red boat", "size": "1024x1024", "quality": "low", "background": "opaque"}
    orchestrator = ScriptedModel(
        calling(
            ("1", HUB[0], {"query": "What is the notice period?", "attachment_urls": []}),
            ("2", HUB[1], picture),
            ("3", HUB[2], {"query": "Who won?"}),
        ),
        saying("Done."),
    )
    asked: dict[str, ScriptedModel] = {
        "dial-rag": ScriptedModel(saying("Three months.")),
        "gpt-image-1": ScriptedModel(saying("Here it is.")),
        "gemini-2.5-pro-google-search": ScriptedModel(saying("Riga.")),
    }

    await ask("chathub", {"gpt": orchestrator, **asked})

    results = [message.text for message in orchestrator.asked[1].messages[-3:]]
    assert [text.split("\n")[0].split(" [")[0] for text in results] == [
        "Three months.",
        "Here it is.",
        "Riga.",
    ]
    parameters: dict[str, Any] = dict(asked["gpt-image-1"].asked[0].parameters)
    assert {key: parameters[key] for key in ("size", "quality", "background")} == {
        "size": "1024x1024",
        "quality": "low",
        "background": "opaque",
    }
    texts = [model.asked[0].messages[-1].text for model in asked.values()]
    assert texts == ["What is the notice period?", "A red boat", "Who won?"]


@proves("G-17")
def test_the_picture_tool_has_the_schema_that_its_users_know_g_17():
    tool = CONTENT.items["tool"]["image_generation_tool"].value
    function = tool["open_ai_tool"]["function"]

    assert (function["name"], tool["deployment"]) == (
        "image_generation_tool",
        {"deployment_id": "dall-e-3"},
    )
    assert "charts, plots and diagrams of numbers are made with code" in function["description"]
    parameters = function["parameters"]
    assert parameters["required"] == ["prompt"]
    assert {
        name: (one["type"], one.get("enum"), one.get("default"))
        for name, one in parameters["properties"].items()
    } == {
        "prompt": ("string", None, None),
        "size": ("string", ["1024x1024", "1024x1792", "1792x1024"], "1024x1024"),
        "style": ("string", ["natural", "vivid"], "natural"),
        "quality": ("string", ["standard", "hd"], "standard"),
    }


@proves("G-17")
@pytest.mark.django_db
async def test_a_picture_of_the_built_in_tool_stands_in_the_answer_g_17():
    orchestrator = ScriptedModel(
        calling(("1", "image_generation_tool", {"prompt": "A red boat"})), saying("There it is.")
    )
    drawn = Attachment("image/png", "Boat", url="files/b/boat.png")
    painter = ScriptedModel([AttachmentAdded(drawn), *saying("")])
    events: list[Event] = []

    await ask("pictures", {"gpt": orchestrator, "demo-image": painter}, events)

    said = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert said == "![Boat](files/b/boat.png)\n\nThere it is."
    assert not [event for event in events if isinstance(event, AttachmentAdded)]
    assert list(painter.asked[0].messages) == [ModelMessage("user", "A red boat")]
    configuration = {"size": "1024x1024", "style": "natural", "quality": "standard"}
    assert painter.asked[0].parameters == {"custom_fields": {"configuration": configuration}}
    (spec,) = [s for s in orchestrator.asked[0].tools if s.name == "image_generation_tool"]
    assert list(spec.parameters["properties"]) == ["prompt", "size", "style", "quality"]
    result = orchestrator.asked[1].messages[-1]
    assert (result.text.split("\n<attachments>")[0], result.attachments) == (SEE_PICTURES, ())


@pytest.mark.django_db
async def test_the_web_is_searched_where_there_is_a_deployment_that_can():
    events: list[Event] = []
    found = [ScriptedModel(saying("Hi")) for _ in range(2)]

    await ask("web_search", {"gpt": found[0]}, events)
    await Application.objects.all().adelete()
    await ask("web_search", {"gpt": found[1], "gemini-2.5-pro-google-search": found[0]})

    assert not [event for event in events if isinstance(event, StageOpened)]
    names = [[spec.name for spec in model.asked[0].tools] for model in found]
    assert ["web_search_tool" in listed for listed in names] == [False, True]


@proves("m4.5")
@pytest.mark.django_db
async def test_the_built_in_location_works_as_it_is(settings, live_server):
    settings.SITE_URL = live_server.url
    settings.ALLOWED_HOSTS = ["localhost"]
    model = ScriptedModel(calling(("1", "Location_geo_code", {"q": "Oslo"})), saying("Fine."))

    await ask("location", {"gpt": model})

    found = json.loads(model.asked[1].messages[-1].text)
    assert (found["latitude"], found["time_zone"]) == (59.9, "Europe/Oslo")


@proves("m4.5")
@pytest.mark.django_db
async def test_the_built_in_interpreter_works_as_it_is():
    code = {"title": "Sum", "code": "sum(range(5))"}
    name = "internal_code_execution_python_interpreter"
    model = ScriptedModel(calling(("1", name, code)), saying("Fine."))

    await ask("py_interpreter", {"gpt": model})

    assert '"result": "10"' in model.asked[1].messages[-1].text


@proves("m4.5")
@pytest.mark.django_db
@pytest.mark.parametrize("name", CONTENT.items["skill"])
async def test_every_skill_is_read_when_a_model_asks_for_it(name):
    call = calling(("1", "internal_skills_read_skill", {"skill_name": name}))
    model = ScriptedModel(call, saying("Fine."))

    await ask("weather", {"gpt": model})

    listed = f"<name>{name}</name>" in model.asked[0].messages[0].text
    assert listed is (name != "dial-memory")  # it requires the tools of memories
    assert model.asked[1].messages[-1].text == CONTENT.items["skill"][name].text


@pytest.mark.django_db
def test_the_installation_has_what_is_built_in():
    for kind, items in CONTENT.items.items():
        assert items.keys() <= installed_content().items[kind].keys()
