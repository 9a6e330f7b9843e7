from __future__ import annotations

import json

import pytest

from apps.errors import DeploymentNotFound, ServiceFailed, Unsupported
from apps.workspace.port import McpEndpoint
from tests.capabilities.service import Reply, json_reply
from tests.workspace.dial.callers import called, scripted, workspace

TOOLSET = {
    "display_name": {"en": "Desk", "de": "Pult"},
    "description": "Answers",
    "transport": "HTTP",
    "auth_settings": {"authentication_type": "OAUTH"},
}


def reply(value, status=200):
    return json_reply(json.dumps(value), status)


async def test_a_toolset_is_spoken_with_through_core(settings):
    headers = {"x-conversation-id": "c1", "x-odd": "n\u00e4ive"}
    async with scripted(settings, reply(TOOLSET), bearer="jwt", headers=headers) as (service, own):
        found = await own.mcp_endpoint("toolsets/b7/My desk")

    assert found == McpEndpoint(
        url=f"{service.url}/v1/toolset/toolsets/b7/My%20desk/mcp",
        headers={
            "Api-Key": "dial-demo-key",
            "Authorization": "Bearer jwt",
            "Accept-Language": "en",
            "x-conversation-id": "c1",
        },
        protocol="streamable_http",
        display_name={"en": "Desk", "de": "Pult"},
        description="Answers",
    )
    assert service.targets == ["GET /openai/toolsets/toolsets/b7/My%20desk"]
    assert "dial-demo-key" not in repr(found)


async def test_core_says_how_a_toolset_is_spoken_with(settings):
    async with scripted(settings, reply({**TOOLSET, "transport": "SSE"})) as (_, own):
        assert (await own.mcp_endpoint("desk")).protocol == "sse"


async def test_each_caller_asks_what_a_toolset_is_called_and_has_a_key_of_its_own(fake):
    fake.configuration.add(fake.configuration.deployment("desk", "toolset", {"transport": "HTTP"}))

    with called(fake) as first, called(fake) as second:
        endpoints = [await own.mcp_endpoint("desk") for own in (first, second)]

        assert [e.headers["Api-Key"] for e in endpoints] == [
            own.caller.api_key for own in (first, second)
        ]
        await first.mcp_endpoint("desk")
    assert [request.path for request in fake.requests] == ["/openai/toolsets/desk"] * 2


async def test_one_who_is_refused_does_not_speak_for_others(fake):
    fields = {"transport": "HTTP", "userRoles": ["default"]}
    fake.configuration.add(fake.configuration.deployment("desk", "toolset", fields))
    fake.keys.add_project("guest-key", {"project": "Guests", "roles": ["guest"]})

    with pytest.raises(ServiceFailed) as caught:
        await workspace(fake.url, key="guest-key").mcp_endpoint("desk")

    assert caught.value.status == 403
    assert (await workspace(fake.url).mcp_endpoint("desk")).url.endswith("/toolset/desk/mcp")


async def test_an_application_that_offers_its_tools_is_spoken_with_likewise(settings):
    app = {"display_name": "Planner", "features": {"mcp": True}}
    async with scripted(settings, reply(app)) as (service, own):
        found = await own.mcp_endpoint("applications/b7/planner")

    assert found.url == f"{service.url}/v1/toolset/applications/b7/planner/mcp"
    assert (found.display_name, found.protocol) == ("Planner", "streamable_http")
    assert service.targets == ["GET /openai/applications/applications/b7/planner"]


async def test_a_deployment_that_offers_no_tools_is_told(fake):
    fake.add_model("m")
    own = workspace(fake.url)

    with pytest.raises(Unsupported, match="'m' does not offer its tools over MCP"):
        await own.mcp_endpoint("m")
    with pytest.raises(DeploymentNotFound):
        await own.mcp_endpoint("none")


async def test_a_toolset_that_cannot_be_asked_for_is_no_toolset_that_is_missing(settings):
    async with scripted(settings, Reply(500)) as (_, own):
        with pytest.raises(ServiceFailed):
            await own.mcp_endpoint("desk")
