"""Operations that are retried automatically."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.rest.capability import rest
from tests.capabilities.manifests import OTHERWISE, manifest, opened, tool, tool_set, use
from tests.capabilities.service import Reply, json_reply, serving
from tests.contract import proves
from tests.fakes import MemoryLedger

pytestmark = pytest.mark.usefixtures("loopback")

AGAIN = {
    "strategies": [
        {"type": "continue", "retry": {"attempts": 2, "initial_delay": 0, "max_delay": 0}}
    ]
}


@proves("8")
@pytest.mark.parametrize(
    ("method", "first", "requests"),
    [("get", 503, 2), ("put", 500, 2), ("delete", 429, 2), ("get", 404, 1), ("post", 503, 1)],
)
async def test_only_what_may_be_sent_twice_and_may_go_well_is_sent_again(method, first, requests):
    async with serving(Reply(first, headers={"Retry-After": "0"}), json_reply("{}")) as service:
        document = manifest(tool_set(tool(f"{service.url}/", method, fallback_configuration=AGAIN)))

        async with opened(rest, document) as contribution:
            result = await use(contribution.tools[0])

    assert len(service.seen) == requests
    assert (result == ToolResult("{}", "application/json")) == (requests == 2)


async def test_all_attempts_at_a_call_have_one_key_and_another_call_has_another():
    async with serving(Reply(503), json_reply("{}")) as service:
        document = manifest(tool_set(tool(f"{service.url}/", "put", fallback_configuration=AGAIN)))

        async with opened(rest, document) as contribution:
            for call_id in ("\ud800", "2"):
                await contribution.tools[0].call(Invocation(call_id))

    first, again, other = (seen.headers["idempotency-key"] for seen in service.seen)
    assert first == again != other


async def test_a_call_of_a_run_that_is_kept_has_the_key_of_its_step():
    async with serving(json_reply("{}")) as service:
        document = manifest(tool_set(tool(f"{service.url}/", "post")))

        async with opened(rest, document) as contribution:
            call = Invocation("1", ledger=MemoryLedger(), key="t:1:0:1")
            await contribution.tools[0].call(call)

    assert service.seen[0].headers["idempotency-key"] == "run/t:1:0:1"


async def test_a_read_has_no_key_and_a_header_of_the_operator_wins():
    own = {"Idempotency-Key": "mine"}
    async with serving(json_reply("{}")) as service:
        tools = tool(f"{service.url}/", "get"), tool(f"{service.url}/", "post")
        for one, headers in zip(tools, ({}, own), strict=True):
            async with opened(rest, manifest(tool_set(one, headers=headers))) as contribution:
                await contribution.tools[0].call(Invocation("1"))

    read, sent = (seen.headers.get("idempotency-key") for seen in service.seen)
    assert (read, sent) == (None, "mine")


@pytest.mark.parametrize(
    ("method", "of_tool", "of_toolset", "expected"),
    [
        ("get", None, None, True),
        ("put", None, None, True),
        ("post", None, None, False),
        ("post", None, True, True),
        ("get", None, False, False),
        ("post", True, False, True),
        ("get", False, True, False),
    ],
)
async def test_a_tool_may_be_repeated_as_it_says_or_its_toolset_or_its_method(
    method, of_tool, of_toolset, expected
):
    one = tool("https://shop.example/", method, is_repeatable=of_tool)
    document = manifest(tool_set(one, is_repeatable=of_toolset))

    async with opened(rest, document) as contribution:
        assert contribution.tools[0].is_repeatable == expected


def later(seconds: int) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@proves("8")
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
        result.content == f"shop_look_up: the service returned 503 Service Unavailable{OTHERWISE}"
    )
    assert len(service.seen) == 1
