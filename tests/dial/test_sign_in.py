"""Toolsets of Core that require a sign-in: real MCP servers, a real channel, one question."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.capabilities.mcp.servers import serving_apart
from tests.dial.installation import (
    SIGN_IN_SECONDS,
    Installation,
    asking,
    called,
    last,
    lines_of,
    reply_of,
    said,
    stages,
    told_to,
)
from tests.dial_core import Core
from tests.dial_core.core import Reply
from tests.dial_core.mcp_server import serve_mcp
from tests.dial_core.models import Answer

OAUTH = {"authenticationType": "OAUTH"}
TOKEN = "Bearer token-test"
INTERACT = "/v1/ops/client-channel/interact"


@pytest.fixture(scope="module")
def desk() -> Iterator[str]:
    """Serve only callers with the token."""
    with serve_mcp("authorization", TOKEN) as url:
        yield url


def toolset(id: str) -> dict[str, Any]:
    return {"type": "dial-mcp", "deployment_id": id}


async def ask(core: Core, name: str) -> Reply:
    """Ask like a client with an open channel."""
    channel = core.open_channel()
    return await core.call_application(name, asking("Add"), X_DIAL_CLIENT_CHANNEL_ID=channel)


def questions(core: Core) -> list[Any]:
    """Return the bodies that asked users."""
    return [hop.json() for hop in core.requests if hop.path == INTERACT]


def add_up(body: Mapping[str, Any]) -> Answer:
    """Call every tool that adds, then return their results."""
    turn = [message for message in told_to(body) if message["role"] == "tool"]
    if turn:
        return [{"text": " ".join(message["content"] for message in turn)}]
    names = [tool["function"]["name"] for tool in body.get("tools", ())]
    adding = [name for name in names if "add" in name]
    if not adding:
        return [{"text": "No tools."}]
    return [{"tool_calls": [{"name": name, "arguments": {"a": 1, "b": 2}} for name in adding]}]


@pytest.fixture
def offered(
    core: Core, installation: Installation, desk: str, request: Any
) -> tuple[str, list[str]]:
    """An application with two toolsets without a sign-in, new ones for each test."""
    number = str(len(core.configuration.deployments))
    ids = [f"desk{number}a", f"desk{number}b"]
    for id in ids:
        core.add_toolset(id, desk, authSettings=OAUTH)
    core.add_model(f"adder{number}", add_up)
    name = f"signing{number}"
    installation.add(name, f"adder{number}", *map(toolset, ids))
    return name, ids


async def test_all_toolsets_are_asked_for_in_one_question_and_then_work(
    core: Core, offered: tuple[str, list[str]]
):
    name, ids = offered
    core.channels.auto_answer = "success"

    reply = await ask(core, name)

    assert said(reply) == "3 3"
    [batch] = questions(core)
    assert [(one["method"], one["params"]["toolsetId"]) for one in batch] == [
        ("toolset/signin", id) for id in ids
    ]
    assert len({one["id"] for one in batch}) == 2


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("denied", "Sign-in was denied for toolset '{}'"),
        ("error", "Sign-in failed for toolset '{}'"),
        (None, "Toolset '{}' requires sign-in, but no client channel is available"),
    ],
)
async def test_why_nobody_signed_in_is_told(
    core: Core, offered: tuple[str, list[str]], answer: Any, told: str
):
    name, ids = offered
    core.channels.auto_answer = answer

    reply = await ask(core, name) if answer else await core.call_application(name, asking("Add"))

    assert said(reply) == "No tools."
    [(title, content, status)] = stages(reply)
    assert (title, status) == ("Initialization issues", "failed")
    assert [told.format(id) in content for id in ids] == [True, True]
    assert len(questions(core)) == (1 if answer else 0)


async def test_a_channel_of_somebody_else_is_refused_as_an_event_and_told(
    core: Core, offered: tuple[str, list[str]]
):
    """§8.2: the refusal is an event with status 200."""
    name, ids = offered

    reply = await core.call_application(
        name, asking("Add"), X_DIAL_CLIENT_CHANNEL_ID=core.open_channel("stranger")
    )

    [(_, content, _)] = stages(reply)
    assert [f"Sign-in failed for toolset '{id}'" in content for id in ids] == [True, True]


@pytest.mark.slow("a site behind a Core, each in a process of its own")
async def test_a_person_who_does_nothing_is_waited_for_while_the_answer_is_kept_alive(
    core: Core, offered: tuple[str, list[str]]
):
    name, ids = offered
    core.channels.auto_answer = "never"
    loop = asyncio.get_running_loop()
    began = loop.time()

    channel = core.open_channel()
    lines = await lines_of(core, name, asking("Add"), X_DIAL_CLIENT_CHANNEL_ID=channel)

    assert SIGN_IN_SECONDS <= loop.time() - began < 5 * SIGN_IN_SECONDS
    reply = reply_of(lines)
    [(_, content, _)] = stages(reply)
    assert [f"Sign-in timed out for toolset '{id}'" in content for id in ids] == [True, True]
    # The silence only affects the status: the headers are sent without a body.
    assert json.loads(lines[0].removeprefix("data: "))["choices"][0]["delta"] == {
        "role": "assistant"
    }


async def test_a_sign_in_that_ends_during_the_run_is_asked_for_once(
    core: Core, installation: Installation, desk: str
):
    def add_later(body: Mapping[str, Any]) -> Answer:
        if last(body)["role"] != "tool":
            core.sign_out("Demo", "desk-ending")
        return add_up(body)

    core.add_toolset("desk-ending", desk, authSettings=OAUTH)
    core.sign_in("Demo", "desk-ending")
    core.add_model("adder-ending", add_later)
    installation.add("ending", "adder-ending", toolset("desk-ending"))
    core.channels.auto_answer = "success"

    reply = await ask(core, "ending")

    assert said(reply) == "3"
    assert [len(batch) for batch in questions(core)] == [1]


async def test_a_service_behind_a_tool_is_signed_in_to_by_its_scope(
    core: Core, installation: Installation
):
    def need(body: Mapping[str, Any]) -> Answer:
        if last(body)["role"] == "tool":
            return [{"text": last(body)["content"]}]
        [name] = [
            t["function"]["name"] for t in body["tools"] if "guarded" in t["function"]["name"]
        ]
        return called(name)

    core.channels.auto_answer = "success"
    core.add_model("needing", need)
    with serving_apart("http") as url:
        core.add_toolset("desk-serving", url)
        installation.add("serving", "needing", toolset("desk-serving"))
        reply = await ask(core, "serving")

    [[question]] = questions(core)
    assert (question["method"], question["params"]) == (
        "external-service/signin",
        {"url": "desk/mail"},
    )
    calls = [
        hop for hop in core.requests if hop.path.endswith("/mcp") and b'"tools/call"' in hop.body
    ]
    assert len(calls) == 2
    assert "a service wants a sign-in" in said(reply)


async def test_files_are_shared_with_a_toolset_before_it_is_called(
    core: Core, installation: Installation
):
    """§8.1: the key of the grants is `resourcePermissions`."""
    bucket = core.keys.projects["dial-demo-key"].bucket
    url = f"files/{bucket}/a%20b.txt"
    core.put(url, b"x")

    def peruse(body: Mapping[str, Any]) -> Answer:
        if last(body)["role"] == "tool":
            return [{"text": last(body)["content"]}]
        [name] = [t["function"]["name"] for t in body["tools"] if "peruse" in t["function"]["name"]]
        return called(name, file=url)

    core.add_model("perusing", peruse)
    with serving_apart("http") as server:
        core.add_toolset("toolsets/public/my reader", server)
        installation.add("reading", "perusing", toolset("toolsets/public/my reader"))
        attached = [{"type": "text/plain", "title": "a b", "url": url}]
        reply = await core.call_application("reading", asking("Read", attachments=attached))

    assert said(reply) == f"{url} and 0 others"
    paths = [hop.path for hop in core.requests]
    [granting] = [
        n for n, path in enumerate(paths) if path.endswith("/per-request-permissions/grant")
    ]
    [calling] = [
        n
        for n, hop in enumerate(core.requests)
        if hop.path.endswith("/mcp") and b'"tools/call"' in hop.body
    ]
    assert granting < calling
    assert core.requests[granting].json() == {
        "resourcePermissions": [{"url": url, "permissions": ["READ"]}],
        "receiver": "toolsets/public/my reader",
    }
    # §8.14: encoded once.
    assert paths[calling] == "/v1/toolset/toolsets/public/my%20reader/mcp"
