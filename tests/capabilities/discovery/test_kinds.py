"""Toolsets of every kind can be withheld, tested with the capabilities that open them."""

from typing import Any

import pytest

from apps.agent.messages import ModelMessage
from apps.manifest.validation.validation import read_manifest
from tests.capabilities.mcp.servers import nothing_left_over, over_http, serving_apart
from tests.capabilities.runs import application, events_of
from tests.contract import proves
from tests.fakes import ScriptedModel, calling, saying
from tests.manifest.documents import internal_tools, manifest, rest_tool, rest_tools

CLOCK = "internal_timeawareness_current_timestamp"
SEARCH = "internal_tool_search"


async def listed(
    model: ScriptedModel, *tool_sets: Any, least: int = 2, features: Any = None
) -> list[list[str]]:
    """Return the tool names in each model call."""
    wanted = {"enabled": True, "min_tools_for_deferral": least}
    orchestrator = {"deployment": {"deployment_id": "gpt"}, "tool_discovery": wanted}
    document = manifest(orchestrator=orchestrator, tool_sets=list(tool_sets), features=features)
    question = ModelMessage("user", "How is the weather?")
    await events_of(application(read_manifest(document)), {"gpt": model}, question)
    return [[spec.name for spec in request.tools] for request in model.asked]


@proves("14.9")
async def test_tools_of_a_rest_service():
    model = ScriptedModel(
        calling(("s", SEARCH, {"query": "act"})), saying('["api_act"]'), saying("Done")
    )

    tools = await listed(model, rest_tools(rest_tool("act"), rest_tool("sit")))

    assert tools == [[SEARCH], [], [SEARCH, "api_act"]]


@proves("14.9")
async def test_internal_tools():
    model = ScriptedModel(
        calling(("s", SEARCH, {"query": "time"})),
        saying(f'["{CLOCK}"]'),
        calling(("1", CLOCK, {})),
        saying("Done"),
    )

    tools = await listed(model, internal_tools(CLOCK), least=1)

    assert tools == [[SEARCH], [], [SEARCH, CLOCK], [SEARCH, CLOCK]]
    assert "(UTC, source=default)" in model.asked[-1].messages[-1].text


@pytest.mark.parametrize("where", ["toolset", "tool"])
async def test_a_tool_of_a_feature_is_not_withheld_by_a_toolset_that_is_switched_off(where):
    model = ScriptedModel(saying("Hello"))
    off = internal_tools(CLOCK, enabled=where != "toolset")
    off["tools"][0]["enabled"] = where != "tool"

    assert await listed(model, off, least=1, features={}) == [[CLOCK]]


@proves("14.9")
async def test_tools_of_an_mcp_server(settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    model = ScriptedModel(
        calling(("s", SEARCH, {"query": "sums"})),
        saying('["desk_add"]'),
        calling(("1", "desk_add", {"a": 1, "b": 2})),
        saying("Done"),
    )

    with serving_apart("http") as url:
        async with nothing_left_over():
            tools = await listed(model, over_http(url, allowed_tools=["add", "move"]))

    assert tools == [[SEARCH], [], [SEARCH, "desk_add"], [SEARCH, "desk_add"]]
    assert model.asked[-1].messages[-1].text == "3"


@proves("14.9")
@pytest.mark.parametrize("least", [1, 2])
async def test_a_toolset_is_withheld_from_so_many_tools_on(least):
    model = ScriptedModel(saying("Hello"))

    tools = await listed(model, rest_tools(rest_tool("act")), least=least)

    assert tools == [[SEARCH] if least == 1 else ["api_act"]]
