"""Requests to the servers of agents: credentials that are renewed, and callers without any."""

import pytest

from apps.capabilities.a2a_agents.capability import a2a_agents
from tests.capabilities.a2a_agents.agents import WORKING, document, scripted, status, text
from tests.capabilities.manifests import opened, use
from tests.capabilities.service import Reply, json_reply

pytestmark = pytest.mark.usefixtures("loopback")


def token(name: str) -> Reply:
    return json_reply(f'{{"access_token": "{name}", "token_type": "Bearer", "expires_in": 3600}}')


async def test_a_token_that_the_server_refuses_is_renewed_once():
    async with scripted() as agent:
        agent.replies["/token"] = [token("first"), token("second")]
        agent.replies["SendStreamingMessage"] = [
            Reply(401),
            agent.streams(WORKING, text("Hello"), status("COMPLETED")),
        ]
        how = {
            "type": "client_id_secret",
            "client_id": "quickapps",
            "client_secret": "s3cret",
            "token_url": f"{agent.service.url}/token",
        }
        async with opened(a2a_agents, document(agent.url, authorization=how)) as contribution:
            [tool] = contribution.tools
            result = await use(tool, query="Hi")

    assert result.content == "Hello\n\n[session_id: call-1]"
    sent = [one.headers["authorization"] for one in agent.heads if one.target == "/travel/call"]
    assert sent == ["Bearer first", "Bearer second"]


async def test_a_caller_without_a_token_to_pass_on_gets_an_issue():
    how = {"type": "forward_auth_token"}
    async with (
        scripted() as agent,
        opened(a2a_agents, document(agent.url, authorization=how)) as contribution,
    ):
        [issue] = contribution.issues

    assert agent.heads == []
    assert str(issue) == (
        "Toolset travel: This tool uses the caller's own sign-in, but the request has no bearer "
        "token. Sign in, or send an Authorization header."
    )
