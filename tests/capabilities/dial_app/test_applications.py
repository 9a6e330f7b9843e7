"""Applications and deployments of this installation as toolsets, without DIAL Core."""

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async

from apps.accounts.caller import Caller
from apps.agent.events import Event, StageOpened, TextDelta
from apps.agent.messages import ModelMessage
from apps.capabilities.preparation import unserved
from apps.catalog.resolve import resolve_application
from apps.errors import Unsupported
from apps.runs.workspaces import open_workspace
from apps.workspace.local.models import Deployment
from apps.workspace.port import McpEndpoint
from tests.capabilities.manifests import PROMPT, manifest
from tests.capabilities.mcp.core import Core, core_before
from tests.capabilities.runs import events_in
from tests.catalog.rows import make_application, make_deployment
from tests.fakes import ModelsWorkspace, ScriptedModel, calling, saying

pytestmark = pytest.mark.django_db

CALLER = Caller("user-1", "key")


def written(model: str, *tool_sets: dict[str, Any]) -> dict[str, Any]:
    deployment = {"deployment": {"deployment_id": model}, "system_prompt": PROMPT}
    return {
        "orchestrator": deployment,
        "contexts": [],
        "tool_sets": list(tool_sets),
        "features": {"timestamp": None},
    }


async def answer(**models: ScriptedModel) -> list[Event]:
    workspace = ModelsWorkspace(CALLER, models)
    return await events_in(
        workspace, await resolve_application("outer"), ModelMessage("user", "What is it?")
    )


def said(events: list[Event]) -> tuple[list[str], str]:
    """Return the titles of all stages, and the answer."""
    titles = [event.title for event in events if isinstance(event, StageOpened)]
    return titles, "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_an_application_of_our_own_is_asked():
    toolset = {"type": "dial-app", "name": "Helper", "deployment_id": "inner"}
    await sync_to_async(make_application)("outer", manifest=written("big", toolset))
    await sync_to_async(make_application)("inner", manifest=written("small"), description="Helps.")
    big = ScriptedModel(calling(("1", "inner", {"query": "Time?"})), saying("It is noon."))
    small = ScriptedModel(saying("Noon"))

    titles, text = said(await answer(big=big, small=small))

    assert (titles, text) == (["Helper"], "It is noon.")
    (spec,) = [tool for tool in big.asked[0].tools if tool.name == "inner"]
    assert spec.description == "Helps."
    asked = [m.text for m in small.asked[0].messages if m.role == "user"]
    assert asked == ["Time?"]
    assert [message.text for message in big.asked[1].messages][-1] == "Noon"


async def test_an_application_that_stands_below_itself_is_refused():
    toolset = {"type": "dial-app", "name": "Me", "deployment_id": "outer"}
    await sync_to_async(make_application)("outer", manifest=written("big", toolset))

    titles, text = said(await answer(big=ScriptedModel(saying("Alone."))))

    assert (titles, text) == (["Initialization issues"], "Alone.")


async def test_a_deployment_of_a_dial_service_brings_its_tools_over_mcp(http_url, settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    app = {"type": "dial-app", "name": "desk", "deployment_id": "desk", "allowed_tools": ["add"]}
    await sync_to_async(make_application)("outer", manifest=written("big", app))
    big = ScriptedModel(calling(("1", "desk_add", {"a": 1, "b": 2})), saying("3"))

    async with core_before(http_url, "desk") as core:
        await store(f"{core.url}/openai/deployments/desk", features={"dial": True, "mcp": True})
        events = await answer_with(core, big)

    assert said(events) == (["desk · add"], "3")
    assert [message.text for message in big.asked[1].messages][-1] == "3"


async def answer_with(core: Core, model: ScriptedModel) -> list[Event]:
    events = await answer(big=model)
    assert {seen.headers.get("api-key") for seen in core.seen} == {"per-request-key"}
    return events


async def store(url: str, **fields: Any) -> None:
    await database_sync_to_async(make_deployment)(
        "desk",
        provider=Deployment.Provider.OPENAI,
        base_url=url,
        display_name="The desk",
        api_key="per-request-key",
        **fields,
    )


@pytest.mark.parametrize(
    ("url", "model_name", "expected"),
    [
        (
            "https://d.example/openai/deployments/toolsets/public/x?v=1",
            "",
            "https://d.example/v1/toolset/toolsets/public/x/mcp",
        ),
        ("https://d.example/", "toolsets/p/x", "https://d.example/v1/toolset/toolsets/p/x/mcp"),
    ],
)
async def test_where_a_dial_service_has_the_server_of_a_deployment(url, model_name, expected):
    await store(url, model_name=model_name, features={"dial": True})

    found = await open_workspace(CALLER).mcp_endpoint("desk")

    assert found == McpEndpoint(
        expected, {"Api-Key": "per-request-key"}, display_name="The desk", description=""
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [("desk", "is not in DIAL Core"), ("other", "is in DIAL Core, which this installation")],
)
async def test_other_deployments_have_no_server(name, text):
    await store("https://models.example/v1")

    with pytest.raises(Unsupported, match=text):
        await open_workspace(CALLER).mcp_endpoint(name)


def test_this_installation_serves_both_kinds():
    kept = {"type": "dial-mcp", "deployment_id": "toolsets/public/x"}
    app = {"type": "dial-app", "name": "a", "deployment_id": "b"}

    assert unserved(manifest(kept, app)) == []
