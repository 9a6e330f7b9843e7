"""DIAL's applications as toolsets: over MCP if they support it, otherwise as a chat."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from apps.agent.messages import Attachment
from apps.agent.stages import silent
from apps.agent.tools import Tool
from apps.capabilities.dial_app.capability import dial_app
from apps.capabilities.mcp.capability import mcp
from apps.capabilities.registry import Contribution, Opening
from apps.manifest.parts import parts_in_use
from apps.workspace.port import DeploymentInfo
from tests.capabilities.deployment.scripts import chunk
from tests.capabilities.manifests import manifest, opened_together, use
from tests.capabilities.mcp.core import Core, CoreWorkspace, core_before
from tests.capabilities.mcp.servers import nothing_left_over, over_http
from tests.contract import proves
from tests.fakes import ScriptedModel, finish, saying

pytestmark = pytest.mark.usefixtures("loopback")

STATS = "applications/public/stats"
FAR = "applications/public/far"


def app(deployment_id: str = STATS, **rest: Any) -> dict[str, Any]:
    return {"type": "dial-app", "name": "stats", "deployment_id": deployment_id, **rest}


def info(deployment_id: str = STATS, *, mcp: bool, **rest: Any) -> DeploymentInfo:
    return DeploymentInfo(deployment_id, "Stats", features={"mcp": mcp}, **rest)


def knowing(
    core: Core, *infos: DeploymentInfo, model: ScriptedModel | None = None
) -> CoreWorkspace:
    workspace = CoreWorkspace(core)
    workspace.infos = {one.id: one for one in infos}
    workspace.models = {one.id: model or ScriptedModel(saying("42")) for one in infos}
    return workspace


@asynccontextmanager
async def opened(
    workspace: CoreWorkspace, *tool_sets: Mapping[str, Any], **rest: Any
) -> AsyncIterator[Contribution]:
    document = manifest(*tool_sets, **rest)
    opening = Opening(workspace, workspace.caller, silent)
    async with opened_together(document, opening, mcp, dial_app) as contribution:
        yield contribution


def told(contribution: Contribution) -> tuple[list[str], list[str]]:
    """Return the names of the tools, and the issues."""
    tools = [tool.spec.name for tool in contribution.tools]
    return tools, [issue.message for issue in contribution.issues]


def named(contribution: Contribution, name: str) -> Tool:
    return next(tool for tool in contribution.tools if tool.spec.name == name)


@proves("9.6")
@pytest.mark.parametrize("transport", ["auto", "mcp"])
async def test_an_application_that_speaks_mcp_brings_its_tools(transport, http_url):
    toolset = app(transport=transport, allowed_tools=["add", "count"], hidden_from_model=["count"])

    async with nothing_left_over(), core_before(http_url, STATS) as core:
        workspace = knowing(core, info(mcp=True))
        workspace.names = {STATS: "Another name"}
        async with opened(workspace, toolset) as contribution:
            result = await use(named(contribution, "stats_add"), a=1)
            hidden = [tool.spec.name for tool in contribution.hidden]

    assert told(contribution) == (["stats_add"], [])
    assert (hidden, result.content) == (["stats_count"], "2")
    assert (workspace.described, workspace.reached) == ([STATS], [STATS])


@proves("9.6")
async def test_an_application_that_does_not_is_one_tool_that_asks_it():
    model = ScriptedModel(saying("42"))
    workspace = knowing(Core(), info(mcp=False, description="Counts."), model=model)

    async with opened(workspace, app()) as contribution:
        (tool,) = contribution.tools
        result = await use(tool, query="How many?")

    assert told(contribution) == (["applications_public_stats"], [])
    assert (tool.toolset, tool.spec.description) == ("tool_sets[0]", "Counts.")
    assert sorted(tool.spec.parameters["properties"]) == ["attachment_urls", "query"]
    assert result.content == "42"
    assert [message.text for message in model.asked[0].messages] == ["How many?"]


@proves("9.6")
async def test_an_application_that_has_to_speak_mcp_and_does_not_is_an_issue():
    async with opened(knowing(Core(), info(mcp=False)), app(transport="mcp")) as contribution:
        assert told(contribution) == (
            [],
            [
                f"tool_sets[0].transport: the deployment {STATS!r} does not declare MCP support. Use 'auto' or 'chat-completion'."
            ],
        )


@proves("9.6")
async def test_an_application_that_is_asked_in_any_case_is_not_looked_up():
    workspace = knowing(Core(), info(mcp=True))
    toolset = app(transport="chat-completion", description={"en": "Counts.", "de": "Zählt."})

    async with opened(workspace, toolset) as contribution:
        (tool,) = contribution.tools
        result = await use(tool, query="How many?")

    assert (tool.spec.description, result.content) == ("Counts.", "42")
    assert workspace.described == []


async def test_an_application_that_is_not_there_is_an_issue():
    async with opened(knowing(Core()), app()) as contribution:
        assert told(contribution) == (
            [],
            [
                f"tool_sets[0].deployment_id: the deployment {STATS!r} does not exist, or you have no access, "
                "so the application runs without this toolset."
            ],
        )


async def test_a_conversation_with_an_application_goes_on():
    workspace = knowing(Core(), info(mcp=False))

    async with opened(workspace, app(conversation_mode={"resumable": True})) as contribution:
        (tool,) = contribution.tools
        result = await use(tool, query="How many?")

    assert "session_id" in tool.spec.parameters["properties"]
    assert result.content == "42\n\n[session_id: call-1]"


async def test_attachments_and_fallbacks_are_as_the_toolset_wants_them():
    files = [
        Attachment("image/png", "a", url="files/a"),
        Attachment("text/csv", "b", url="files/b"),
    ]
    custom = {"attachments": [{"type": f.type, "title": f.title, "url": f.url} for f in files]}
    delta = {"content": "See", "custom_content": custom}
    answer = [chunk(choices=[{"delta": delta}]), finish()]
    strategy = {
        "type": "continue",
        "trigger_on": {"type": "contains", "value": "unexpectedly"},
        "instructions": "Ask less.",
    }
    toolset = app(
        attachment={"supported_types": ["text/*"], "propagate_types_to_choice": ["text/csv"]},
        fallback_configuration={"strategies": [strategy, {"type": "continue"}]},
    )
    workspace = knowing(Core(), info(mcp=False), model=ScriptedModel(answer, [ValueError("no")]))

    async with opened(workspace, toolset) as contribution:
        (tool,) = contribution.tools
        result = await use(tool, query="?")
        failed = await use(tool, query="?")

    assert [one.type for one in result.attachments] == ["text/csv"]
    assert [one.type for one in result.propagated] == ["text/csv"]
    assert failed.content == "The tool failed unexpectedly.\n\nAsk less."


@proves("9.6")
@pytest.mark.parametrize(
    ("speaks_mcp", "lines"),
    [
        (True, ["tool_sets[0].conversation_mode is ignored, because the application speaks MCP."]),
        (
            False,
            [
                "tool_sets[0].allowed_tools is ignored, because the application is asked as a chat.",
                "tool_sets[0].hidden_from_model is ignored, because the application is asked as a "
                "chat.",
            ],
        ),
    ],
)
async def test_what_is_written_in_vain_is_told_once(speaks_mcp, lines, http_url, caplog):
    toolset = app(
        conversation_mode={"resumable": False}, allowed_tools=["add"], hidden_from_model=["add"]
    )
    opener = dial_app.prepare(manifest(toolset))
    assert opener is not None

    async with nothing_left_over(), core_before(http_url, STATS) as core:
        workspace = knowing(core, info(mcp=speaks_mcp))
        for _ in range(2):
            async with opener(Opening(workspace, workspace.caller, silent)):
                pass

    assert [
        record.getMessage()
        for record in caplog.records
        if record.name.startswith("apps.capabilities.dial_app")
    ] == lines


@proves("6.3")
async def test_one_question_covers_applications_and_toolsets(http_url):
    only: dict[str, Any] = {"allowed_tools": ["add"]}
    toolset = {"type": "dial-mcp", "name": "desk", "deployment_id": "toolsets/public/desk", **only}

    async with nothing_left_over(), core_before(http_url) as core:
        workspace = knowing(core, info(mcp=True), info(FAR, mcp=True))
        workspace.outcomes = {FAR: "denied"}
        async with opened(
            workspace,
            app(**only),
            toolset,
            app(FAR, name="far"),
            over_http(http_url, name="p", **only),
        ) as contribution:
            found = told(contribution)

    assert found == (["desk_add", "p_add", "stats_add"], ["Sign-in was denied for toolset 'far'"])
    assert workspace.asked == [["toolsets/public/desk", STATS, FAR]]


@proves("6.3")
async def test_applications_that_may_not_be_used_are_left_out_before_they_are_looked_up():
    workspace = knowing(Core(), info(mcp=False), info(FAR, mcp=False))
    workspace.usable = [FAR]
    toolset = {"type": "dial-mcp", "deployment_id": "toolsets/public/desk"}
    features = {"timestamp": None, "tool_access_filter": {"enabled": True}}

    async with opened(workspace, app(), app(FAR), toolset, features=features) as contribution:
        assert told(contribution) == (["applications_public_far"], [])

    assert (workspace.described, workspace.reached, workspace.listed) == ([FAR], [], 1)


def test_a_manifest_without_applications_asks_nothing():
    assert dial_app.prepare(manifest()) is None
    assert dial_app.prepare(manifest(app(enabled=False))) is None
    assert dial_app.prepare(manifest(over_http("https://x.example"))) is None


def test_somebody_serves_applications_of_dial():
    document = manifest(app(), features={"timestamp": None})

    assert {part.name for part in parts_in_use(document)} <= dial_app.serves
