"""Secrets of MCP servers are sent with every request, and a rotated one opens another session."""

from typing import Any

import pytest

from apps.capabilities.mcp.sessions.pool import current_pool
from apps.workspace.local.models import Secret
from tests.capabilities.manifests import use
from tests.capabilities.mcp.desk import answering, messages, opened_desk
from tests.capabilities.mcp.servers import nothing_left_over, over_http
from tests.capabilities.service import Reply, serving
from tests.contract import proves

MARK = "sk-marked-0123456789"
BEARER: dict[str, Any] = {"type": "bearer", "token": {"$secret": "desk"}}

pytestmark = pytest.mark.django_db


async def store(url: str) -> Secret:
    return await Secret.objects.acreate(name="desk", value=MARK, servers=[url])


@proves("9.1", "G-61")
async def test_a_rotated_secret_opens_another_session():
    async with nothing_left_over(), serving(answer=answering(Reply(500))) as service:
        secret = await store(service.url)
        toolset = over_http(service.url, authorization=BEARER)

        async with opened_desk(toolset) as contribution:
            assert messages(contribution) == []
        asked = len(service.seen)
        secret.value = "sk-new"
        await secret.asave()
        async with opened_desk(toolset) as contribution:
            assert messages(contribution) == []

        before = {seen.headers["authorization"] for seen in service.seen[:asked]}
        after = {seen.headers["authorization"] for seen in service.seen[asked:]}
        assert len(current_pool().slots) == 2
        assert MARK not in repr(list(current_pool().slots))

    assert (before, after) == ({f"Bearer {MARK}"}, {"Bearer sk-new"})


@proves("9.1")
async def test_a_session_that_goes_on_sends_the_rotated_secret():
    async with nothing_left_over(), serving(answer=answering(Reply(500))) as service:
        secret = await store(service.url)

        async with opened_desk(over_http(service.url, authorization=BEARER)) as contribution:
            asked = len(service.seen)
            secret.value = "sk-new"
            await secret.asave()
            await use(contribution.tools[0])

        after = {s.headers["authorization"] for s in service.seen[asked:] if s.method == "POST"}

    assert after == {"Bearer sk-new"}


@proves("9.1")
@pytest.mark.parametrize(
    ("name", "server", "told"),
    [
        ("else", None, "the secret 'desk' does not exist."),
        ("desk", "https://mcp.example.org", "The secret 'desk' may not be sent to {url}."),
    ],
)
async def test_a_secret_that_cannot_be_sent_is_an_issue_with_its_place(name, server, told):
    async with nothing_left_over(), serving(answer=answering(Reply(500))) as service:
        await Secret.objects.acreate(name=name, value=MARK, servers=[server or service.url])

        async with opened_desk(over_http(service.url, authorization=BEARER)) as contribution:
            [message] = messages(contribution)

    assert "mcp_server_info.authorization.token: " in message
    assert told.format(url=service.url) in message
    assert service.seen == []


@proves("9.1", "G-61")
@pytest.mark.parametrize("location", ["header", "query"])
async def test_a_key_is_sent_in_a_header_or_in_the_query(location):
    async with nothing_left_over(), serving(answer=answering(Reply(500))) as service:
        await store(service.url)
        key = {"type": "api_key", "name": "key", "key": {"$secret": "desk"}, "location": location}
        toolset = over_http(f"{service.url}/mcp?v=2", authorization=key)

        async with opened_desk(toolset) as contribution:
            assert messages(contribution) == []
            assert MARK not in repr(list(current_pool().slots))

        sent = {(seen.target, seen.headers.get("key")) for seen in service.seen}

    assert sent == {("/mcp?v=2", MARK) if location == "header" else (f"/mcp?v=2&key={MARK}", None)}
