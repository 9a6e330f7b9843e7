"""Agent cards, and the versions of the protocol."""

from __future__ import annotations

import pytest

from tests.a2a.scripts import agent_scene, message
from tests.chat.scripts import says

pytestmark = pytest.mark.django_db
CARD = "/.well-known/agent-card.json"


async def test_a_card_is_cached_and_revalidated():
    async with agent_scene(title="Travel", description="Plans journeys.") as (on, agent):
        reply = await agent.http("GET", CARD)
        again = await agent.http("GET", CARD, **{"if-none-match": reply.headers["etag"]})

        card, address = reply.body, f"http://127.0.0.1:8000/a2a/{on.application.slug}"
        assert (card["name"], card["description"]) == ("Travel", "Plans journeys.")
        assert {one["protocolBinding"] for one in card["supportedInterfaces"]} == {
            "JSONRPC",
            "HTTP+JSON",
        }
        assert card["supportedInterfaces"][0]["url"].endswith(address.partition("8000")[2])
        assert reply.headers["cache-control"] == "private, max-age=300"
        assert (again.status, again.body) == (304, None)


async def test_only_public_applications_show_their_card_without_a_key():
    async with agent_scene(is_public=False) as (_, agent):
        hidden = await agent.http("GET", CARD, **{"api-key": ""})
        shown = await agent.http("GET", CARD)

        assert (hidden.status, shown.status) == (401, 200)
    async with agent_scene() as (_, agent):
        assert (await agent.http("GET", CARD, **{"api-key": ""})).status == 200


async def test_the_extended_card_has_the_conversation_starters():
    starters = {"starters": [{"title": "Trip", "text": "Plan a trip"}]}
    manifest = {
        "orchestrator": {"deployment": {"deployment_id": "paced"}},
        "contexts": [],
        "tool_sets": [],
        "conversation_starters": starters,
    }
    async with agent_scene(manifest=manifest) as (_, agent):
        card = await agent.call("GetExtendedAgentCard")

        assert card["skills"][0]["examples"] == ["Plan a trip"]
        assert (await agent.http("GET", "/extendedAgentCard", **{"api-key": ""})).status == 401


@pytest.mark.parametrize("version", ["", "0.3", "1.1", "2", "\xe9"])
async def test_other_versions_are_refused_in_both_bindings(version: str):
    async with agent_scene() as (_, agent):
        told = await agent.call("ListTasks", **{"a2a-version": version})
        reply = await agent.http("GET", "/tasks", **{"a2a-version": version})

        assert told["code"] == -32009
        assert told["data"][0]["reason"] == "VERSION_NOT_SUPPORTED"
        assert (reply.status, reply.body["error"]["status"]) == (400, "UNIMPLEMENTED")


async def test_the_version_can_be_in_the_address():
    async with agent_scene() as (on, agent):
        on.model.put(says("Hello"), None)

        reply = await agent.http(
            "POST",
            "/message:send?A2A-Version=1.0",
            {"message": message("Hi")},
            **{"a2a-version": ""},
        )

        assert reply.body["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
        assert reply.headers["content-type"] == "application/json"
