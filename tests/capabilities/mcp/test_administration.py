"""The administration of MCP servers."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.capabilities.mcp.administration import list_server, reconnect, session_title, sessions
from apps.capabilities.mcp.capability import mcp
from apps.errors import ToolError, Unsupported
from apps.manifest.toolsets.mcp import McpServerInfo
from tests.capabilities.manifests import manifest, opened, use
from tests.capabilities.mcp.servers import (
    MISBEHAVING,
    WELL_BEHAVED,
    nothing_left_over,
    over_stdio,
    register,
)
from tests.capabilities.service import Reply, serving

LOCAL = McpServerInfo(protocol="stdio", server="local")


def over_http(url: str) -> McpServerInfo:
    return McpServerInfo(url=url, protocol="streamable_http")


@pytest.mark.django_db
async def test_a_server_is_tried_out():
    await register(WELL_BEHAVED, "stdio")

    async with nothing_left_over():
        listed = await list_server(LOCAL, "user-1")
        (session,) = await sessions()

    assert listed.server_name
    assert [tool.name for tool in listed.tools][:2] == ["add", "move"]
    assert (session.server, session.protocol, session.bucket) == ("local", "stdio", "user-1")
    assert (session.state, session.users, session.version) == ("connected", 0, 1)
    assert session.tools == tuple(tool.name for tool in listed.tools)
    assert session.since is not None
    assert timedelta() <= datetime.now(UTC) - session.since < timedelta(minutes=1)
    assert (session.error, session.failed_at) == ("", None)


@pytest.mark.django_db
async def test_a_program_that_died_tells_its_last_words():
    await register(MISBEHAVING, "dies")

    async with nothing_left_over():
        async with opened(mcp, manifest(over_stdio())) as contribution:
            (act,) = contribution.tools
            assert "the server ended the connection" in (await use(act)).content
        (broken,) = await sessions()
        healed = await reconnect(broken.id)

    assert (broken.state, broken.error) == (
        "error",
        "Toolset local: the server ended the connection.",
    )
    assert broken.details.endswith("I had 1 secret")
    assert broken.failed_at is not None
    assert timedelta() <= datetime.now(UTC) - broken.failed_at < timedelta(minutes=1)
    assert healed is not None
    assert (healed.state, healed.error) == ("connected", "")
    assert (broken.since, broken.tools) == (None, ("act",))


async def test_a_server_that_wants_a_sign_in_says_so():
    async with nothing_left_over(), serving(Reply(401)) as service:
        server = over_http(f"{service.url}/mcp?key=s3cret")
        with pytest.raises(ToolError, match="Authentication required"):
            await list_server(server, "user-1")
        (session,) = await sessions()
        again = await reconnect(session.id)

    assert again is not None
    assert again.state == session.state == "sign-in needed"
    assert "s3cret" not in f"{session.server} {session.error} {session.details}"


def test_sessions_are_called_after_their_server_without_what_may_be_secret():
    assert (
        session_title(over_http("https://a.example/mcp?key=s3cret#part")) == "https://a.example/mcp"
    )
    assert session_title(LOCAL) == "local"


async def test_a_session_that_is_gone_is_not_reconnected():
    async with nothing_left_over():
        assert await reconnect(7) is None
        assert await sessions() == []


@pytest.mark.django_db
async def test_only_registered_programs_are_tried():
    async with nothing_left_over():
        with pytest.raises(Unsupported, match="The MCP server 'local'"):
            await list_server(LOCAL, "user-1")
