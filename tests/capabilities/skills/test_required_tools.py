"""Models are offered only skills for which they have the tools."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async

from apps.accounts.caller import Caller
from apps.agent.messages import ModelMessage
from apps.capabilities.skills.capability import is_usable
from apps.capabilities.skills.collection import predefined_skills
from apps.catalog.resolve import resolve_application
from apps.manifest.markdown.skill_document import InstalledSkill, read_skill_document
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from tests.capabilities.manifests import PROMPT, tool, tool_set
from tests.catalog.rows import make_application, manifest_with
from tests.fakes import ModelsWorkspace, ScriptedModel, saying
from tests.tables import each_row

CALLER = Caller("user-1", "key")
TEXT = "---\nname: recall\ndescription: Recalls.\nmetadata:\n  requires-tools: store find\n---\nDo."
RECALL = predefined_skills((InstalledSkill(read_skill_document(TEXT), TEXT, {}),)).skills["recall"]


@each_row(
    ("tools", "usable"),
    [
        (("store", "find"), True),
        (("memory_store", "memory_find", "other"), True),
        (("store",), False),
        (("store", "finder", "unfind"), False),
        ((), False),
    ],
)
def test_a_skill_is_usable_with_all_tools_that_it_requires(tools, usable):
    assert is_usable(RECALL, tools) is usable


async def prompt_with(*names: str, **orchestrator: object) -> str:
    tools = [tool("https://memory.example/") for _ in names]
    for name, one in zip(names, tools, strict=True):
        one["open_ai_tool"]["function"]["name"] = name
    manifest = manifest_with(
        orchestrator={
            "deployment": {"deployment_id": "big"},
            "system_prompt": PROMPT,
            **orchestrator,
        },
        tool_sets=[tool_set(*tools, name="memory")] if tools else [],
    )
    await sync_to_async(make_application)("asked", manifest=manifest)
    big = ScriptedModel(saying("Hello."))
    workspace, request = (
        ModelsWorkspace(CALLER, {"big": big}),
        RunRequest((ModelMessage("user", "Hi"),)),
    )
    await run_application(
        await resolve_application("asked"), request, workspace, CALLER, lambda event: None
    )
    return big.asked[0].messages[0].text


@pytest.mark.django_db
async def test_an_application_without_a_memory_server_is_not_told_of_its_skill():
    prompt = await prompt_with()

    assert "tool-call-file-parameter-formatting" in prompt
    assert "dial-memory" not in prompt


@pytest.mark.django_db
async def test_and_one_with_its_tools_is():
    assert "<name>dial-memory</name>" in await prompt_with("store_memory", "search_archive")


@pytest.mark.django_db
async def test_and_one_whose_tools_the_model_has_to_search(settings):
    settings.ENABLE_PREVIEW_FEATURES = True
    discovery = {"enabled": True, "min_tools_for_deferral": 1}

    prompt = await prompt_with("store_memory", "search_archive", tool_discovery=discovery)

    assert "<name>dial-memory</name>" in prompt
