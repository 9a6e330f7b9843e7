"""An operator tries toolsets of an application, opened as in a run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from channels.db import database_sync_to_async

from apps.accounts.caller import Caller
from apps.agent.calls import ToolOutcome
from apps.agent.tools import Tool, ToolResult
from apps.capabilities.wrappers.failure_handling import ANOTHER_WAY
from apps.catalog.resolved_application import ResolvedApplication, resolve_draft
from apps.runs.tool_trial import NO_TOOLSET, ToolTrial, offer, only_toolset, try_tool
from tests.capabilities.manifests import parameter, stage_text, tool, tool_set
from tests.capabilities.mcp.servers import WELL_BEHAVED, nothing_left_over, over_stdio, register
from tests.capabilities.service import Reply, json_reply, serving
from tests.catalog.rows import make_application, make_deployment, manifest_with

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

OPERATOR = Caller("user-7", "key")
CLOCK = "internal_timeawareness_current_timestamp"
READ_SKILL = "internal_skills_read_skill"
ITEM = parameter("query", "item", description="What to look up.")


def saved(*tool_sets: dict[str, Any], **fields: Any) -> Any:
    return make_application(manifest=manifest_with(tool_sets=list(tool_sets)), **fields)


async def resolved(
    *tool_sets: dict[str, Any], index: int | None = 0, **fields: Any
) -> ResolvedApplication:
    def work() -> ResolvedApplication:
        row = saved(*tool_sets, **fields)
        return resolve_draft(
            row, row.manifest if index is None else only_toolset(row.manifest, index)
        )

    found: ResolvedApplication = await database_sync_to_async(work)()
    return found


def names(tools: tuple[Tool, ...]) -> list[str]:
    return [tool.spec.name for tool in tools]


def shop(url: str, **rest: Any) -> dict[str, Any]:
    return tool_set(tool(url, properties={"item": ITEM}, required=("item",), **rest))


async def test_a_toolset_is_opened_without_its_siblings():
    dead = {
        "type": "mcp",
        "name": "dead",
        "mcp_server_info": {"url": "nonsense", "protocol": "sse"},
    }
    application = await resolved(dead, shop("http://127.0.0.1:9/"), index=1)

    found = await offer(application, OPERATOR, 1)

    assert (names(found.tools), names(found.others)) == (["shop_look_up"], [CLOCK, READ_SKILL])
    assert found.issues == ()
    schema = found.tools[0].spec.parameters
    assert schema["properties"] == {"item": {"type": "string", "description": "What to look up."}}


async def test_the_issues_are_those_that_a_run_would_report():
    dead = {
        "type": "mcp",
        "name": "dead",
        "mcp_server_info": {"url": "nonsense", "protocol": "sse"},
    }
    predefined = {"type": "predefined", "template_name": "x"}
    sets = (dead, shop("http://127.0.0.1:9/"), predefined)
    alone = await resolved(*sets)
    together = await resolved(*sets, index=None, slug="b")

    one = await offer(alone, OPERATOR, 0)
    every = await offer(together, OPERATOR, None)

    assert [issue.message.split(": ")[:2] for issue in one.issues] == [
        ["Toolset dead", "tool_sets[0].mcp_server_info.url"]
    ]
    assert sorted(issue.message.split(": ")[:2] for issue in every.issues) == [
        ["Toolset dead", "tool_sets[0].mcp_server_info.url"],
        ["Toolset x", "tool_sets[2]"],
    ]
    assert (names(every.tools), names(every.others)) == (["shop_look_up"], [CLOCK, READ_SKILL])


async def test_a_call_shows_what_the_model_gets_and_what_people_see():
    async with serving(json_reply('{"price": 3}')) as service:
        application = await resolved(shop(f"{service.url}/items"))
        trial = await try_tool(application, OPERATOR, "shop_look_up", '{"item": "pen"}')

    assert service.targets == ["GET /items?item=pen"]
    assert (trial.outcome.failed, trial.outcome.error, trial.outcome.arguments) == (
        None,
        "",
        {"item": "pen"},
    )
    assert '"price": 3' in trial.outcome.result.content
    assert "***item:*** pen" in stage_text(list(trial.events))
    assert trial.outcome.seconds


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("{", "The arguments are not valid JSON"),
        ("[1]", "The arguments are a JSON list. Send one JSON object."),
        ("{}", "Parameter item is invalid: it is required but missing."),
        ('{"item": 3}', "Parameter item is invalid: expected string; found integer 3."),
    ],
)
async def test_wrong_arguments_are_told_before_anything_is_sent(written, told):
    async with serving(Reply()) as service:
        application = await resolved(shop(service.url))
        trial = await try_tool(application, OPERATOR, "shop_look_up", written)

    assert service.seen == []
    assert trial.outcome.failed == "arguments"
    assert trial.outcome.error.startswith(told)
    advice = "\n\nCorrect it and call the tool again." if told.startswith("Parameter") else ""
    assert trial.outcome.result.content == f"Error: {trial.outcome.error}{advice}"


async def test_a_tool_that_the_model_has_to_search_for_is_called(settings):
    settings.ENABLE_PREVIEW_FEATURES = True
    discovery = {"enabled": True, "min_tools_for_deferral": 1}

    def work(url: str) -> ResolvedApplication:
        document = manifest_with(tool_sets=[shop(url)])
        document["orchestrator"]["tool_discovery"] = discovery
        return resolve_draft(make_application(), document)

    async with serving(json_reply('{"price": 3}')) as service:
        application = await database_sync_to_async(work)(f"{service.url}/items")
        offered = await offer(application, OPERATOR, 0)
        trial = await try_tool(application, OPERATOR, "shop_look_up", '{"item": "pen"}')

    assert offered.withheld == {"shop_look_up"}
    assert trial.outcome.error == ""
    assert '"price": 3' in trial.outcome.result.content


async def test_a_call_that_failed_is_told_as_one_although_the_model_gets_an_answer():
    async with serving(Reply(500, b"out of pens")) as service:
        application = await resolved(shop(service.url))
        trial = await try_tool(application, OPERATOR, "shop_look_up", '{"item": "pen"}')

    assert trial.outcome.failed == "call"
    assert "500" in trial.outcome.error
    assert trial.outcome.result.content == f"{trial.outcome.error}\n\n{ANOTHER_WAY}"


async def test_a_call_that_would_end_the_run_has_no_answer():
    fallback = {"strategies": [{"type": "hard_stop"}]}
    async with serving(Reply(500)) as service:
        application = await resolved(shop(service.url, fallback_configuration=fallback))
        trial = await try_tool(application, OPERATOR, "shop_look_up", '{"item": "pen"}')

    assert trial.outcome.failed == "call"
    assert trial.outcome.stopped is not None
    assert "500" in trial.outcome.error


async def test_a_tool_that_is_gone_is_told():
    application = await resolved(shop("http://127.0.0.1:9/"))

    trial = await try_tool(application, OPERATOR, "shop_sell", "{}")

    gone = "The tool 'shop_sell' no longer exists, or it could not be opened."
    assert trial == ToolTrial(ToolOutcome(ToolResult(gone), "open", gone))


async def test_a_tool_has_no_more_time_than_in_a_run(settings):
    settings.DEFAULT_TOOL_TIMEOUT_SECONDS = 0.1
    never = asyncio.Event()

    async def wait(seen: object) -> Reply:
        await never.wait()
        return Reply()

    async with serving(answer=wait) as service:
        application = await resolved(shop(service.url))
        trial = await try_tool(application, OPERATOR, "shop_look_up", '{"item": "pen"}')
        never.set()

    assert trial.outcome.failed == "call"
    assert "timed out after 0.1 seconds" in trial.outcome.error


async def test_an_application_that_is_switched_off_can_be_tried():
    application = await resolved(shop("http://127.0.0.1:9/"), is_enabled=False)

    assert names((await offer(application, OPERATOR, 0)).tools) == ["shop_look_up"]


def test_a_manifest_with_one_toolset_keeps_the_places_of_all():
    first, second = shop("http://127.0.0.1:9/"), {"type": "predefined", "template_name": "x"}
    document = manifest_with(tool_sets=[first, second])

    assert only_toolset(document, 1) == {**document, "tool_sets": [NO_TOOLSET, second]}


def test_there_is_nothing_beyond_the_last_toolset():
    for document in (manifest_with(tool_sets=[shop("http://127.0.0.1:9/")]), {}):
        for index in (1, -1):
            with pytest.raises(LookupError):
                only_toolset(document, index)


async def test_tools_of_a_registered_mcp_server_are_called():
    await register(WELL_BEHAVED, "stdio")
    application = await resolved(over_stdio())

    async with nothing_left_over():
        found = await offer(application, OPERATOR, 0)
        trial = await try_tool(application, OPERATOR, "desk_add", '{"a": 1, "b": 2}')

    assert names(found.tools)[:2] == ["desk_add", "desk_move"]
    assert trial.outcome.failed is None
    assert trial.outcome.result.content == "3"


async def test_internal_tools_and_deployments_are_called_as_the_operator():
    await database_sync_to_async(make_deployment)()
    await database_sync_to_async(make_application)(slug="inner", is_public=False)
    team = {
        "type": "dial-deployment",
        "name": "Team",
        "tools": [{"type": "dial-deployment-simple", "deployment_id": "inner"}],
    }
    clock = {
        "type": "internal",
        "name": "Clock",
        "tools": [
            {
                "type": "internal-tool",
                "open_ai_tool": {
                    "function": {
                        "name": CLOCK,
                        "description": "",
                        "parameters": {"type": "object", "properties": {}},
                    }
                },
            }
        ],
    }
    deployments = await resolved(team, clock, index=0)
    internals = await resolved(team, clock, index=1, slug="second")

    asked = await try_tool(deployments, OPERATOR, "inner", '{"query": "Hello"}')
    told = await try_tool(internals, OPERATOR, CLOCK, '{"timezone": "Europe/Paris"}')

    assert names((await offer(deployments, OPERATOR, 0)).tools) == ["inner"]
    assert names((await offer(internals, OPERATOR, 1)).tools) == [CLOCK]
    assert (asked.outcome.failed, told.outcome.failed) == (None, None)
    assert asked.outcome.result.content
    assert "Europe/Paris" in told.outcome.result.content
