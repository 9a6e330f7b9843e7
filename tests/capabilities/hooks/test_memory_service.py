"""A memory service behind DIAL that two hooks call before the model (G-34)."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from apps.accounts.caller import Caller, Credentials
from apps.agent.messages import ModelMessage
from apps.capabilities.hooks.capability import hooks
from apps.capabilities.mcp.capability import mcp
from apps.manifest.validation.validation import read_manifest
from apps.workspace.port import McpEndpoint
from tests.capabilities.mcp.servers import nothing_left_over, serving_apart
from tests.capabilities.runs import application, events_in
from tests.contract import proves
from tests.fakes import FakeWorkspace, ScriptedModel, calling, saying
from tests.manifest.documents import example

SKILL = "Store facts, search before you answer."
ANN = Caller("user-1", credentials=Credentials(api_key="key-of-ann"))
BEN = Caller("user-2", credentials=Credentials(api_key="key-of-ben"))
NOTHING = "Nothing is kept yet."
STORED = {"content": "Ann lives in Paris", "memory_type": "core", "importance": 0.9}


@pytest.fixture
def service() -> Iterator[str]:
    with serving_apart("http", str(Path(__file__).parent / "remembering.py")) as url:
        yield url


class Workspace(FakeWorkspace):
    """Returns the address of the service and passes the request's key on, like Core."""

    url = ""

    async def mcp_endpoint(self, deployment_id: str) -> McpEndpoint:
        assert deployment_id == "toolsets/public/memory"
        return McpEndpoint(
            self.url, {"Api-Key": self.caller.credentials.api_key}, display_name="Memory"
        )


async def answer(
    url: str, caller: Caller, *messages: ModelMessage, scripts: Sequence[Any] = (saying("Fine"),)
) -> ScriptedModel:
    """The model of one request, which has received the results of the hooks."""
    app = application(read_manifest(example("memory_service"), preview=True), mcp, hooks)
    workspace = Workspace(caller)
    workspace.url = url
    workspace.models = {"harbour-chat": (model := ScriptedModel(*scripts))}
    async with nothing_left_over():
        await events_in(workspace, app, *messages)
    return model


def brought(model: ScriptedModel) -> list[str]:
    """Return the tool results in the first model call of a run."""
    return [m.text for m in model.asked[0].messages if m.role == "tool"]


@proves("G-34")
@pytest.mark.django_db
async def test_a_run_begins_with_the_memories_of_its_caller_and_tells_them_again_when_they_change(
    service,
):
    question = ModelMessage("user", "Where do I live?")
    store = calling(("c1", "Memory_store_memory", STORED))

    first = await answer(service, ANN, question, scripts=(store, saying("I keep it.")))
    second = await answer(service, ANN, question)
    of_ben = await answer(service, BEN, question)
    history = [m for m in first.asked[0].messages if m.role != "system"]
    later = [*history, ModelMessage("assistant", "I keep it."), ModelMessage("user", "And now?")]
    changed = await answer(service, ANN, *later)
    unchanged = await answer(service, BEN, *(replace(m) for m in later))

    assert [tool.name for tool in first.asked[0].tools] == [
        "Memory_store_memory",
        "Memory_search_archive",
    ]
    assert brought(first) == [NOTHING, SKILL]
    assert first.asked[1].messages[-1].text == "Stored: Ann lives in Paris"
    assert brought(second) == ["Ann lives in Paris", SKILL]
    assert brought(of_ben) == [NOTHING, SKILL]
    assert brought(changed) == [NOTHING, SKILL, "Ann lives in Paris"]
    assert brought(unchanged) == [NOTHING, SKILL]


def test_the_page_about_hooks_shows_the_same_manifest():
    page = (Path(settings.BASE_DIR) / "docs/hooks.md").read_text()
    (_, after) = page.split("## A memory service")
    (shown, _) = after.split("```json\n")[1].split("```", 1)

    document = example("memory_service")
    assert json.loads(shown) == {key: document[key] for key in ("tool_sets", "hooks")}
