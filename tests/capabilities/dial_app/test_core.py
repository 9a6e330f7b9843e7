"""The complete path: a run, the workspace of DIAL Core, Core's protocol, and a real server behind
it."""

from collections.abc import Iterator
from typing import Any

import pytest

from apps.agent.stages import silent
from apps.capabilities.dial_app.capability import dial_app
from apps.capabilities.mcp.capability import mcp
from apps.capabilities.mcp.sessions.pool import current_pool
from apps.capabilities.registry import Contribution, Opening
from tests.capabilities.manifests import manifest, opened_together, use
from tests.dial_core import Core
from tests.dial_core.core import KEY
from tests.dial_core.mcp_server import serve_mcp
from tests.workspace.dial.callers import APPLICATION, called

DESK = "toolsets/public/my%20desk"
OAUTH = {"authenticationType": "OAUTH", "clientId": "c"}


@pytest.fixture(scope="module")
def signed_url() -> Iterator[str]:
    """Serve callers who are signed in to Core."""
    with serve_mcp("Authorization", "Bearer token-test") as url:
        yield url


@pytest.fixture(scope="module")
def open_url() -> Iterator[str]:
    """Serve all callers."""
    with serve_mcp() as url:
        yield url


def toolset(**fields: Any) -> dict[str, Any]:
    return {"type": "dial-mcp", "deployment_id": DESK, **fields}


async def told(core: Core, document: Any, channel: str) -> tuple[list[str], list[str], str]:
    """Return the names of the tools, the issues, and the result of the first tool."""
    with called(core, channel=channel) as workspace:
        opening = Opening(workspace.inside(APPLICATION), workspace.caller, silent)
        try:
            async with opened_together(document, opening, mcp, dial_app) as contribution:
                said = await first(contribution)
        finally:
            await current_pool().aclose()
        names = [tool.spec.name for tool in contribution.tools]
        return names, [issue.message for issue in contribution.issues], said


async def first(contribution: Contribution) -> str:
    if not contribution.tools:
        return ""
    return (await use(contribution.tools[0], a=1, b=2)).content


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("success", (["Desk_add"], [], "3")),
        ("denied", ([], ["Sign-in was denied for toolset 'my desk'"], "")),
        ("error", ([], ["Sign-in failed for toolset 'my desk'"], "")),
    ],
)
async def test_a_person_signs_in_to_a_toolset_while_the_run_opens(
    answer, expected, core, signed_url
):
    core.add_toolset(DESK, signed_url, authSettings=OAUTH, displayName="Desk")
    core.channels.auto_answer = answer
    channel = core.channels.add(holder(core))

    found = await told(core, manifest(toolset(allowed_tools=["add"])), channel)

    assert found == expected


async def test_nobody_can_be_asked_without_a_channel(core, signed_url):
    core.add_toolset(DESK, signed_url, authSettings=OAUTH)

    found = await told(core, manifest(toolset()), "")

    text = "Toolset 'my desk' requires sign-in, but no client channel is available"
    assert found == ([], [text], "")


async def test_an_application_that_is_asked_in_any_case_is_only_asked(core):
    core.add_model("stats", [[{"text": "42"}]])
    app = {"type": "dial-app", "name": "a", "deployment_id": "stats"}
    opener = dial_app.prepare(manifest({**app, "transport": "chat-completion"}))
    assert opener is not None

    with called(core) as workspace:
        opening = Opening(workspace.inside(APPLICATION), workspace.caller, silent)
        async with opener(opening) as contribution:
            result = await use(contribution.tools[0], query="How many?")

    assert result.content == "42"
    assert [request.path for request in core.requests] == [
        "/openai/deployments/stats/chat/completions"
    ]


def holder(core: Core) -> str:
    found = core.keys.holder(KEY)
    assert found is not None
    return found.identity.name


async def test_an_application_that_has_tools_is_used_over_mcp(core, open_url):
    features = {"mcpSupported": True}
    core.add_application("calculator", None, mcp={"endpoint": open_url}, features=features)
    document = {"type": "dial-app", "name": "calc", "deployment_id": "calculator"}

    found = await told(core, manifest({**document, "allowed_tools": ["add"]}), "")

    assert found == (["calc_add"], [], "3")
    assert "calculator" in {key.deployment for key in core.keys.past}
