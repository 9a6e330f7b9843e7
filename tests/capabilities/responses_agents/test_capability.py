"""The model gets an agent as a tool; the application reports an agent that cannot be used."""

import pytest

from apps.capabilities.responses_agents.capability import responses_agents
from tests.capabilities.manifests import manifest, opened
from tests.tables import each_row


def toolset(**fields: object) -> dict[str, object]:
    url = "https://agents.example.com/v1"
    return {"type": "responses-agent", "name": "", "base_url": url, "model": "travel.1", **fields}


async def test_the_model_of_the_agent_names_a_tool_without_a_name():
    async with opened(responses_agents, manifest(toolset())) as contribution:
        [tool] = contribution.tools

    assert (tool.spec.name, tool.toolset) == ("travel_1", "tool_sets[0]")
    assert tool.spec.description == "Asks the agent travel.1."
    assert sorted(tool.spec.parameters["properties"]) == ["attachment_urls", "query", "session_id"]


async def test_the_manifest_names_and_describes_the_tool_first():
    written = toolset(name={"en": "rail", "de": "Bahn"}, description="For trains.")
    async with opened(responses_agents, manifest(written)) as contribution:
        [tool] = contribution.tools

    assert (tool.spec.name, tool.spec.description) == ("rail", "For trains.")


@each_row(
    ("fields", "problem"),
    [
        (
            {"base_url": "/v1"},
            "tool_sets[0].base_url: use a URL that begins with http:// or https://.",
        ),
        (
            {"authorization": {"type": "api_key", "key": "k", "name": "a b", "location": "header"}},
            "tool_sets[0].authorization: 'a b' is not a valid HTTP header name.",
        ),
    ],
)
async def test_a_toolset_that_cannot_be_used_is_an_issue(fields, problem):
    async with opened(responses_agents, manifest(toolset(**fields))) as contribution:
        assert list(map(str, contribution.issues)) == [problem]


@pytest.mark.django_db
async def test_a_missing_secret_is_an_issue():
    how = {"type": "bearer", "token": {"$secret": "agent"}}
    async with opened(responses_agents, manifest(toolset(authorization=how))) as contribution:
        [issue] = contribution.issues

    assert contribution.tools == ()
    assert str(issue).startswith(
        "tool_sets[0].authorization.token: the secret 'agent' does not exist"
    )
