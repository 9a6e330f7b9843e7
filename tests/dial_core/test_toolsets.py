"""MCP servers behind Core, accessed with a real MCP client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.dial_core import Core
from tests.dial_core.core import KEY
from tests.dial_core.mcp_server import serve_mcp

TOOLSET = "toolsets/public/my%20desk"
OAUTH = {"authenticationType": "OAUTH", "clientId": "c"}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add"}}


@pytest.fixture(scope="module")
def open_url() -> Iterator[str]:
    with serve_mcp() as url:
        yield url


@pytest.fixture(scope="module")
def oauth_url() -> Iterator[str]:
    with serve_mcp("Authorization", "Bearer token-42") as url:
        yield url


@pytest.fixture(scope="module")
def key_url() -> Iterator[str]:
    with serve_mcp("X-Desk-Key", "opensesame") as url:
        yield url


@asynccontextmanager
async def connected(core: Core, path: str, **headers: str) -> AsyncIterator[Client]:
    named = {"Api-Key": KEY, **{name.replace("_", "-"): v for name, v in headers.items()}}
    async with httpx2.AsyncClient(headers=named, trust_env=False, timeout=60) as http:
        streams = streamable_http_client(f"{core.url}{path}", http_client=http)
        async with Client(streams, mode="legacy") as client:
            yield client


async def text(client: Client, name: str, **arguments: object) -> str:
    result = await client.call_tool(name, arguments)
    return "".join(part.text for part in result.content if part.type == "text")


async def test_tools_that_are_not_allowed_are_neither_listed_nor_called(
    core: Core, client: httpx.Client, open_url: str
):
    core.add_toolset("desk", open_url, allowedTools=["add"])
    subtract = {**CALL, "params": {"name": "subtract"}}

    async with connected(core, "/v1/toolset/desk/mcp") as session:
        tools = [tool.name for tool in (await session.list_tools()).tools]
        total = await text(session, "add", a=1, b=2)
    refused = client.post("/v1/toolset/desk/mcp", json=subtract)
    all_ = client.post("/v1/toolset/desk/mcp?useAllowedTools=false", json=subtract)

    assert (tools, total) == (["add"], "3")
    assert (refused.status_code, refused.text) == (403, "Tool is not allowed")
    assert all_.status_code == 403


def test_tools_are_listed_without_mcp_too(core: Core, client: httpx.Client, open_url: str):
    core.add_toolset("desk", open_url, allowedTools=["add"])

    every = client.get("/v1/toolset/desk/tools").json()["tools"]
    allowed = client.get("/v1/toolset/desk/allowed-tools").json()

    assert [tool["name"] for tool in every] == ["add", "subtract", "headers"]
    assert allowed == {"tools": [every[0]]}
    assert every[0]["inputSchema"]["required"] == ["a", "b"]


@pytest.mark.parametrize("casing", ["snake", "camel"])
def test_who_is_not_signed_in_is_told_so_by_the_server_itself(
    core: Core, client: httpx.Client, oauth_url: str, casing: str
):
    core.add_toolset(TOOLSET, oauth_url, authSettings=OAUTH)
    path = f"/v1/toolset/{TOOLSET}/tools"
    level, kind = ("credentials_level", "authentication_type")
    if casing == "camel":
        level, kind = ("credentialsLevel", "authenticationType")
    body = {"url": TOOLSET, level: "USER", kind: "OAUTH"}

    before = client.post(f"/v1/toolset/{TOOLSET}/mcp", json=CALL)
    signed_in = client.post("/v1/ops/toolset/signin", json={**body, "code": "42"})
    after = client.get(path).status_code
    signed_out = client.post("/v1/ops/toolset/signout", json=body)

    assert (before.status_code, before.text) == (401, "Who are you?")
    assert before.headers["www-authenticate"] == 'Bearer realm="desk"'
    assert (signed_in.json(), after, signed_out.json()) == (True, 200, True)
    assert client.get(path).status_code == 401


def test_a_key_goes_into_the_header_that_the_toolset_names(
    core: Core, client: httpx.Client, key_url: str
):
    settings = {"authenticationType": "API_KEY", "apiKeyHeader": "X-Desk-Key"}
    core.add_toolset("desk", key_url, authSettings=settings)

    before = client.get("/v1/toolset/desk/tools").status_code
    core.sign_in("Demo", "desk", "opensesame")

    assert (before, client.get("/v1/toolset/desk/tools").status_code) == (401, 200)


def test_a_sign_in_says_what_it_lacks(core: Core, client: httpx.Client, open_url: str):
    core.add_toolset("desk", open_url, authSettings=OAUTH)

    def sign_in(**fields: str) -> tuple[int, str]:
        reply = client.post("/v1/ops/toolset/signin", json={"url": "desk", **fields})
        return reply.status_code, reply.text

    assert sign_in(authenticationType="API_KEY", apiKey="k") == (
        400,
        "Authentication type of the toolset is OAUTH",
    )
    assert sign_in(authenticationType="OAUTH") == (400, "code or api_key is required")
    everybody = sign_in(authenticationType="OAUTH", code="1", credentialsLevel="GLOBAL")
    assert everybody == (403, "Only administrators may sign in for everybody")


def test_who_does_not_say_who_they_are_is_sent_to_where_they_can(core: Core):
    path = "/v1/toolset/desk/mcp"

    refused = httpx.post(f"{core.url}{path}", json=CALL, timeout=60)
    challenge = refused.headers["www-authenticate"]
    discovery = challenge.removeprefix('Bearer resource_metadata="').removesuffix('"')

    assert refused.status_code == 401
    assert httpx.get(discovery, timeout=60).json()["resource"] == f"{core.url}{path}"


async def test_a_toolset_may_be_given_a_per_request_key(core: Core, open_url: str):
    core.add_toolset("desk", open_url, forwardPerRequestKey=True)

    async with connected(core, "/v1/toolset/desk/mcp") as session:
        assert "api-key" in (await text(session, "headers")).split()
