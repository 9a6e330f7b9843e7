"""Operations that are asked for again by themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from apps.agent.tools import ToolResult
from apps.capabilities.rest.capability import rest
from tests.capabilities.manifests import OTHERWISE, manifest, opened, tool, tool_set, use
from tests.capabilities.service import Reply, json_reply, serving

AGAIN = {
    "strategies": [
        {"type": "continue", "retry": {"attempts": 2, "initial_delay": 0, "max_delay": 0}}
    ]
}


@pytest.fixture(autouse=True)
def _loopback_is_allowed(settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]


@pytest.mark.parametrize(
    ("method", "first", "requests"),
    [
        ("get", 503, 2),
        ("put", 500, 2),
        ("delete", 429, 2),
        ("get", 404, 1),
        ("post", 503, 1),
    ],
)
async def test_only_what_may_be_sent_twice_and_may_go_well_is_sent_again(method, first, requests):
    async with serving(Reply(first, headers={"Retry-After": "0"}), json_reply("{}")) as service:
        document = manifest(tool_set(tool(f"{service.url}/", method, fallback_configuration=AGAIN)))

        async with opened(rest, document) as contribution:
            result = await use(contribution.tools[0])

    assert len(service.seen) == requests
    assert (result == ToolResult("{}", "application/json")) == (requests == 2)


def later(seconds: int) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize("after", ["15", later(3600)], ids=["seconds", "date"])
async def test_a_service_that_wants_a_longer_pause_than_the_tool_has_is_not_asked_again(after):
    async with serving(Reply(503, headers={"Retry-After": after}), json_reply("{}")) as service:
        document = manifest(
            tool_set(tool(f"{service.url}/", fallback_configuration=AGAIN)),
            tool_defaults={"timeout_seconds": 10},
        )

        async with opened(rest, document) as contribution:
            result = await use(contribution.tools[0])

    assert (
        result.content == f"shop_look_up: the service answered 503 Service Unavailable{OTHERWISE}"
    )
    assert len(service.seen) == 1
