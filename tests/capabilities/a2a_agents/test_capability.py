"""The model gets the tool that an agent card describes; the application reports a missing card."""

import pytest

from apps.capabilities.a2a_agents.capability import a2a_agents
from tests.capabilities.a2a_agents.agents import document, scripted
from tests.capabilities.manifests import manifest, opened, use
from tests.capabilities.service import Reply, json_reply
from tests.tables import each_row

pytestmark = pytest.mark.usefixtures("loopback")

SKILLS = [
    {"id": "a", "name": "Trains", "description": "Finds trains.", "inputModes": ["text/csv"]},
    {"id": "b", "name": "Travel", "description": "Books journeys."},
]


async def test_the_card_names_and_describes_the_tool():
    async with (
        scripted(card={"skills": SKILLS}) as agent,
        opened(a2a_agents, document(agent.url, name="")) as contribution,
    ):
        [tool] = contribution.tools

    assert (tool.spec.name, tool.toolset) == ("Travel_Agent", "tool_sets[0]")
    assert tool.spec.description == "Books journeys.\nIts skills:\n- Trains: Finds trains."
    files = tool.spec.parameters["properties"]["attachment_urls"]
    assert files["description"].endswith("of the types text/plain, image/*, text/csv")


async def test_the_manifest_names_and_describes_the_tool_first():
    fields = {"name": {"en": "rail", "de": "Bahn"}, "description": "For trains."}
    async with (
        scripted(card={"defaultInputModes": ["text/plain", "text"]}) as agent,
        opened(a2a_agents, document(f"{agent.url}/", **fields)) as contribution,
    ):
        [tool] = contribution.tools

    assert (tool.spec.name, tool.spec.description) == ("rail", "For trains.")
    assert sorted(tool.spec.parameters["properties"]) == ["query", "session_id"]


async def test_a_card_is_loaded_once_for_many_runs():
    async with scripted() as agent:
        given = document(f"{agent.url}/.well-known/agent-card.json")
        for _ in range(2):
            async with opened(a2a_agents, given) as contribution:
                assert len(contribution.tools) == 1

    assert [one.target for one in agent.heads] == ["/travel/.well-known/agent-card.json"]


async def test_a_server_that_failed_is_left_alone_for_a_while():
    async with scripted(replies={"card": [Reply(503)]}) as agent:
        for _ in range(2):
            async with opened(a2a_agents, document(agent.url)) as contribution:
                assert len(contribution.issues) == 1

    assert len(agent.heads) == 1


def interface(url: str, binding: str = "JSONRPC", version: str = "1.0") -> dict[str, str]:
    return {"url": url, "protocolBinding": binding, "protocolVersion": version}


@each_row(
    ("card", "problem"),
    [
        ({"name": 7}, "its agent card is not valid: Expected `str`, got `int` - at `$.name`."),
        (
            {"supportedInterfaces": [interface("https://other.example.com/a")]},
            "its agent card points to https://other.example.com, but credentials are sent only "
            "to the server in the toolset's `url`. To trust the other server, set `url` to a URL on that server.",
        ),
        (
            {"supportedInterfaces": [interface("/a", "GRPC"), interface("/a", version="0.3")]},
            "the agent offers GRPC 1.0, JSONRPC 0.3; a JSONRPC or HTTP+JSON interface of "
            "version 1.0 is required.",
        ),
        (
            {"supportedInterfaces": None, "protocolVersion": "0.3.0"},
            "the agent offers JSONRPC 0.3.0; a JSONRPC or HTTP+JSON interface of version 1.0 "
            "is required.",
        ),
        (
            {"capabilities": {"extensions": [{"uri": "urn:x", "required": True}]}},
            "the agent requires the extension 'urn:x', which is not supported.",
        ),
    ],
)
async def test_an_agent_that_cannot_be_called_is_an_issue(card, problem):
    async with (
        scripted(card=card) as agent,
        opened(a2a_agents, document(agent.url)) as contribution,
    ):
        [issue] = contribution.issues

    assert contribution.tools == ()
    assert str(issue) == f"Toolset travel ({agent.service.url[7:]}): {problem}"


@each_row(
    ("reply", "problem"),
    [
        (Reply(200, b"<html>"), "there is no agent card at this URL: the response is not JSON."),
        (Reply(404), "the server returned 404 Not Found."),
        (
            json_reply(" " * 300_000),
            "the response is too large; the limit is 262144 bytes. Request less data at once.",
        ),
    ],
)
async def test_an_address_without_a_card_is_an_issue(reply, problem):
    async with (
        scripted(replies={"card": [reply]}) as agent,
        opened(a2a_agents, document(agent.url)) as contribution,
    ):
        [issue] = contribution.issues

    assert str(issue) == f"Toolset travel ({agent.service.url[7:]}): {problem}"


@each_row(
    ("fields", "problem"),
    [
        (
            {"url": "agents.example.com"},
            "tool_sets[0].url: use a URL that begins with http://, https:// or /.",
        ),
        (
            {"authorization": {"type": "api_key", "key": "k", "name": "k", "location": "body"}},
            "tool_sets[0].authorization.location: the protocol does not support a key in the body. "
            "Use 'header' or 'query'.",
        ),
        (
            {"authorization": {"type": "bearer", "token": "a\nb"}},
            "tool_sets[0].authorization: a header cannot contain line breaks or other control "
            "characters.",
        ),
    ],
)
async def test_a_toolset_that_cannot_be_used_is_an_issue(fields, problem):
    written = {"type": "a2a-agent", "name": "travel", "url": "https://a.example.com", **fields}
    async with opened(a2a_agents, manifest(written)) as contribution:
        assert list(map(str, contribution.issues)) == [problem]


async def test_private_hosts_are_called_only_if_the_installation_allows_them(settings):
    async with scripted() as agent:
        settings.PRIVATE_NETWORK_ALLOWLIST = []
        async with opened(a2a_agents, document(agent.url)) as contribution:
            [issue] = contribution.issues

    assert agent.heads == []
    assert str(issue) == (
        "Toolset travel: The host '127.0.0.1' is on a private network. If the server may contact "
        "it, add 127.0.0.1 to the setting PRIVATE_NETWORK_ALLOWLIST."
    )


@pytest.mark.django_db
async def test_a_missing_secret_is_an_issue_and_nothing_is_sent():
    how = {"type": "bearer", "token": {"$secret": "agent"}}
    async with (
        scripted() as agent,
        opened(a2a_agents, document(agent.url, authorization=how)) as contribution,
    ):
        [issue] = contribution.issues

    assert agent.heads == []
    assert str(issue).startswith(
        "tool_sets[0].authorization.token: the secret 'agent' does not exist"
    )


async def test_a_key_can_be_sent_in_the_address():
    how = {"type": "api_key", "key": "k 1", "name": "key", "location": "query"}
    async with (
        scripted() as agent,
        opened(a2a_agents, document(agent.url, authorization=how)) as contribution,
    ):
        assert len(contribution.issues) == 1  # the script knows no such path

    assert agent.heads[0].target == "/travel/.well-known/agent-card.json?key=k+1"


@pytest.mark.django_db
async def test_users_sign_in_with_the_first_call_if_the_card_requires_it():
    how = {
        "type": "oauth",
        "client_id": "quickapps",
        "authorization_url": "https://id.example.com/authorize",
        "token_url": "https://id.example.com/token",
    }
    async with (
        scripted(replies={"card": [Reply(401)]}) as agent,
        opened(a2a_agents, document(agent.url, authorization=how)) as contribution,
    ):
        [tool] = contribution.tools
        result = await use(tool, query="Hi")

    assert contribution.issues == ()
    assert result.content.startswith("Error: this tool needs the user's own account at travel")
