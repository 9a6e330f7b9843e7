"""Core's key for a request is used only for that request, and never shown."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.capabilities.mcp.desk import answering
from tests.capabilities.mcp.sessions.test_revisions import DISCOVER, error, refusing
from tests.capabilities.service import Reply, Seen, serving
from tests.contract import proves
from tests.dial.installation import (
    DOOR,
    TYPE,
    Installation,
    asked_with,
    asking,
    called,
    helpers,
    key_of,
    last,
    manifest,
)
from tests.dial_core import Core, Faults
from tests.dial_core.models import Answer


async def test_a_key_that_ends_during_its_request_ends_the_request_in_words(
    core: Core, installation: Installation
):
    def expire(body: Mapping[str, Any]) -> Answer:
        core.expire(key_of(core, "expiring"))
        return called("*", query="Hello")

    core.add_model("expirer", expire)
    core.add_model("parrot")
    installation.add("expiring", "expirer", helpers("parrot"))

    reply = await core.call_application("expiring", asking("Go"))

    error = reply.events()[-1]["error"]
    assert error["display_message"].startswith("Authentication failed when accessing the AI model.")
    assert key_of(core, "expiring") not in reply.text


async def test_who_asks_for_the_same_with_a_users_key_is_not_core(
    core: Core, installation: Installation
):
    """A user's token and a project's key read only public data, and grant no access."""
    core.add_model("any", [])
    installation.add("guarded-app", "any")
    url = f"{installation.site.url}{DOOR}/chat/completions"

    async with httpx.AsyncClient(trust_env=False) as client:
        statuses = [
            (
                await client.post(
                    url,
                    json=asking("Hello"),
                    headers={**headers, "X-DIAL-APPLICATION-ID": "guarded-app"},
                )
            ).status_code
            for headers in ({"Api-Key": "dial-demo-key"}, {"Authorization": "Bearer ann"})
        ]

    assert statuses == [401, 401]


async def test_a_key_with_a_bearer_beside_it_is_core_on_behalf_of_a_user(
    core: Core, installation: Installation
):
    core.add_model("personal", [[{"text": "Hello."}]])
    core.add_application("personally", None, manifest("personal"), TYPE, forwardAuthToken=True)

    async with httpx.AsyncClient(base_url=core.url, verify=False, timeout=60) as user:
        answer = await user.post(
            "/openai/deployments/personally/chat/completions",
            json=asking("Hello"),
            headers={"Authorization": "Bearer ann"},
        )

    assert answer.status_code == 200
    assert core.sent[0].headers["authorization"] == "Bearer ann"
    asked = {hop.path: hop for hop in asked_with(core, key_of(core, "personally"))}
    told = asked["/openai/deployments/personal/chat/completions"].headers
    assert told["authorization"] == "Bearer ann"
    assert "authorization" not in asked["/v1/bucket"].headers


@proves("G-61")
async def test_the_key_is_in_no_answer_and_no_log_whatever_goes_wrong(
    core: Core, installation: Installation
):
    """Core's error may repeat the key that it refuses."""

    def leak(body: Mapping[str, Any]) -> Answer:
        key = key_of(core, "leaking")
        if last(body)["role"] == "tool":
            return [{"error": {"status": 400, "message": f"Key {key} is bad", "param": key}}]
        return called("*", query="Hello")

    core.add_model("leaky", leak)
    core.add_model("parrot")
    installation.add("leaking", "leaky", helpers("parrot"))

    replies = [
        await core.call_application("leaking", asking("Go"), stream=stream)
        for stream in (True, False)
    ]

    keys = {made.value for made in core.keys.past}
    written = installation.log + "".join(reply.text for reply in replies)
    assert [key for key in keys if key in written] == []


async def test_a_client_that_leaves_while_core_is_silent_ends_the_request_at_core(
    core: Core, installation: Installation
):
    asked = threading.Event()

    def answer(body: Mapping[str, Any]) -> Answer:
        asked.set()
        return [{"text": "Hello."}]

    core.add_model("stalling", answer)
    core.faults["stalling"] = Faults(stall_after=0)
    installation.add("stalled", "stalling")
    asking_core = asyncio.create_task(core.call_application("stalled", asking("Go")))
    assert await asyncio.to_thread(asked.wait, 60)

    asking_core.cancel()

    assert await asyncio.to_thread(core.keys.wait_until_none_lives, 60)


@pytest.mark.parametrize("stream", [True, False])
async def test_everything_that_core_is_asked_is_asked_before_the_answer_ends(
    core: Core, installation: Installation, stream: bool
):
    """§8.9: the key expires with the last byte, so all requests to Core must precede it."""
    name = f"punctual-{stream}"

    def lead(body: Mapping[str, Any]) -> Answer:
        return [{"text": "x"}] if last(body)["role"] == "tool" else called("*", query="Hello")

    core.add_model(f"lead-{name}", lead)
    core.add_model("parrot")
    installation.add(name, f"lead-{name}", helpers("parrot"))

    reply = await core.call_application(name, asking("Go"), stream=stream)
    count = len(core.requests)
    # The next request finds the process idle: the requests of the first one have ended.
    await core.call_application(name, asking("Go"), stream=stream)

    [first, _] = [made.value for made in core.keys.past if made.deployment == name]
    assert reply.status == 200
    assert asked_with(core, first) != []
    assert [hop.path for hop in core.requests[count:] if hop.headers.get("api-key") == first] == []


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.slow("starts DIAL Core's stand-in and a site")
async def test_a_session_with_a_toolset_is_ended_before_the_answer_is(
    core: Core, installation: Installation, stream: bool
):
    """§8.9: with an expired key, Core does not pass the end of a session on, and the server would
    keep it."""
    name = f"polite-{stream}"
    core.add_model(f"lead-{name}", [[{"text": "x"}]])
    older = refusing({DISCOVER: error(-32601, 200)}, answering(Reply(500)))

    async def answer(seen: Seen) -> Reply:
        reply = await older(seen)
        return replace(reply, headers={**reply.headers, "Mcp-Session-Id": "1"})

    async with serving(answer=answer) as desk:
        core.add_toolset(f"desk-{name}", desk.url)
        installation.add(
            name, f"lead-{name}", {"type": "dial-mcp", "deployment_id": f"desk-{name}"}
        )

        reply = await core.call_application(name, asking("Go"), stream=stream)

        assert reply.status == 200
        assert [hop.method for hop in core.sent if hop.url == desk.url].count("DELETE") == 1
