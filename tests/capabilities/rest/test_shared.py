"""The tools of a REST toolset share its base URL and its headers."""

from typing import Any

import pytest

from apps.agent.events import Event
from apps.capabilities.rest.capability import rest
from apps.workspace.local.models import Secret
from tests.capabilities.manifests import (
    CALLER,
    manifest,
    opened,
    parameter,
    stage_text,
    tool,
    tool_set,
    use,
)
from tests.capabilities.service import Reply, json_reply, serving
from tests.contract import proves
from tests.tables import each_row

pytestmark = pytest.mark.usefixtures("loopback")

MARK = "sk-marked-0123456789"
NAMED = {"$secret": "shop"}
TRACKING = "X-Track-Key"


@proves("8")
@each_row(
    ("base", "method_url", "target"),
    [
        ("{}", "/orders", "/orders"),
        ("{}/v1", "orders", "/v1/orders"),
        ("{}/v1/", "/orders?open=1", "/v1/orders?open=1"),
        ("{}/v1", "orders/{id}", "/v1/orders/a%2Fb"),
        ("{}/{id}", "orders", "/a%2Fb/orders"),
        ("{}/v1", "//orders", "/v1/orders"),
        ("{}/v1", "@orders", "/v1/@orders"),
        ("{}/v1", "orders:search", "/v1/orders:search"),
        ("https://api.example.org", "{}/orders", "/orders"),
    ],
)
async def test_an_address_without_a_host_stands_below_the_base(base, method_url, target):
    async with serving(json_reply("{}")) as service:
        base, method_url = (text.replace("{}", service.url) for text in (base, method_url))
        ids = {"id": parameter("url", "id")} if "{id}" in base + method_url else {}
        given: dict[str, Any] = dict.fromkeys(ids, "a/b")
        document = manifest(tool_set(tool(method_url, "get", ids), base_url=base))

        async with opened(rest, document) as contribution:
            await use(contribution.tools[0], **given)

    assert service.targets == [f"GET {target}"]


@proves("8")
async def test_a_base_may_be_on_this_server(settings):
    async with serving(json_reply("{}")) as service:
        settings.SITE_URL = service.url
        document = manifest(tool_set(tool("/orders"), base_url="/shop"))

        async with opened(rest, document) as contribution:
            await use(contribution.tools[0])

    assert service.targets == ["GET /shop/orders"]


@proves("8")
@pytest.mark.parametrize(
    ("shared", "message"),
    [
        (
            {"base_url": "api.example.org"},
            "tool_sets[0].base_url: use a URL that begins with http://, https:// or /.",
        ),
        (
            {"base_url": "https://api.example.org/?v=1"},
            "tool_sets[0].base_url: it must not have a query or a fragment, because the paths of "
            "the tools follow it.",
        ),
        (
            {"headers": {"Host": "other.example"}},
            "tool_sets[0].headers.Host: the header 'Host' is set by the HTTP client.",
        ),
        (
            {"headers": {"X-A": "s3cret\r\nX-B: 1"}},
            "tool_sets[0].headers.X-A: a header cannot contain line breaks or other control "
            "characters.",
        ),
    ],
)
async def test_what_cannot_be_shared_costs_the_toolset(shared, message):
    broken = tool_set(tool("https://api.example.org/a"), **shared)
    good = tool_set(tool("https://api.example.org/a"), name="good")

    async with opened(rest, manifest(broken, good)) as contribution:
        names = [item.spec.name for item in contribution.tools]

    assert names == ["good_look_up"]
    assert [issue.message for issue in contribution.issues] == [message]


@proves("8")
async def test_headers_go_with_every_call_and_those_of_a_tool_and_the_authorization_win():
    own = tool(
        "/b", "get", {"tenant": parameter("header", "x-tenant"), "no": parameter("header", "X-No")}
    )
    own["open_ai_tool"]["function"]["name"] = "own"
    headers = {
        "X-Tenant": " acme ",
        "X-No": "shared",
        "Accept": "text/csv",
        "Authorization": "shared",
        "X-Lang": "en",
    }
    async with serving(json_reply("{}")) as service:
        document = manifest(
            tool_set(
                tool("/a"),
                own,
                base_url=service.url,
                headers=headers,
                authorization={"type": "bearer", "token": "t"},
            )
        )

        async with opened(rest, document) as contribution:
            first, second = contribution.tools
            await use(first)
            await use(second, tenant="mine")

    names = ("x-tenant", "x-no", "accept", "authorization", "x-lang")
    everywhere = {"accept": "text/csv", "authorization": "Bearer t", "x-lang": "en"}
    assert [seen.told(*names) for seen in service.seen] == [
        {"x-tenant": "acme", "x-no": "shared", **everywhere},
        {"x-tenant": "mine", "x-no": "shared", **everywhere},
    ]


@proves("8")
async def test_a_header_of_the_caller_never_replaces_a_shared_one():
    async with serving(json_reply("{}")) as service:
        document = manifest(
            tool_set(
                tool("/a"),
                base_url=service.url,
                headers={"X-Tenant": "acme"},
                forward_headers=["X-Tenant"],
            )
        )
        caller = CALLER.at(headers={"X-Tenant": "mine"})

        async with opened(rest, document, caller) as contribution:
            await use(contribution.tools[0])

    assert service.seen[0].told("x-tenant") == {"x-tenant": "acme"}


@proves("8")
@pytest.mark.django_db
async def test_a_shared_header_can_be_a_secret_and_is_shown_nowhere():
    async def echo(seen: Any) -> Reply:
        said = f"{seen.headers[TRACKING.lower()]} {seen.headers['x-api-key']} {seen.headers['x-tenant']}"
        return Reply(200, said.encode(), {"Content-Type": "text/plain"})

    events: list[Event] = []
    headers = {TRACKING: NAMED, "X-Api-Key": "sk-typed-0123456789", "X-Tenant": "acme-and-sons"}
    async with serving(answer=echo) as service:
        secret = await Secret.objects.acreate(name="shop", value=MARK, servers=[service.url])
        document = manifest(tool_set(tool("/a"), base_url=service.url, headers=headers))

        async with opened(rest, document) as contribution:
            result = await use(contribution.tools[0], events.append)
            secret.value = "sk-rotated-0123456789"
            await secret.asave()
            await use(contribution.tools[0])

    sent = [seen.told(TRACKING.lower(), "x-api-key") for seen in service.seen]
    assert [one[TRACKING.lower()] for one in sent] == [MARK, "sk-rotated-0123456789"]
    assert sent[0]["x-api-key"] == "sk-typed-0123456789"
    assert result.content == "[hidden] [hidden] acme-and-sons"
    for said in (repr(events), stage_text(events), repr(contribution), repr(document)):
        assert MARK not in said
        assert "sk-typed" not in said


@proves("8")
@pytest.mark.django_db
async def test_a_secret_of_another_server_costs_the_toolset():
    async with serving(json_reply("{}")) as thief:
        await Secret.objects.acreate(name="shop", value=MARK, servers=["https://api.example.org"])
        document = manifest(
            tool_set(tool("/a"), base_url=thief.url, headers={TRACKING: NAMED}),
            tool_set(
                tool("/a"),
                base_url="https://api.example.org",
                headers={TRACKING: NAMED},
                name="good",
            ),
        )

        async with opened(rest, document) as contribution:
            names = [item.spec.name for item in contribution.tools]

    assert names == ["good_look_up"]
    assert [issue.message for issue in contribution.issues] == [
        f"tool_sets[0].headers.{TRACKING}: The secret 'shop' may not be sent to {thief.url}. "
        "An administrator of this installation can fix it."
    ]
    assert thief.seen == []


@proves("8")
async def test_shared_headers_do_not_follow_a_redirect_to_another_host():
    async with serving(json_reply("{}")) as thief:
        moved = Reply(307, b"", {"location": f"{thief.url}/take"})
        async with serving(moved) as service:
            document = manifest(tool_set(tool("/a"), base_url=service.url, headers={"X-Key": MARK}))

            async with opened(rest, document) as contribution:
                await use(contribution.tools[0])

    assert [seen.headers["x-key"] for seen in service.seen] == [MARK]
    assert thief.seen == []


@proves("8")
async def test_a_base_of_a_forbidden_network_is_not_reached(settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = []
    async with serving(json_reply("{}")) as service:
        document = manifest(tool_set(tool("/a"), base_url=service.url, headers={"X-Key": MARK}))

        async with opened(rest, document) as contribution:
            result = await use(contribution.tools[0])

    assert service.seen == []
    assert "PRIVATE_NETWORK_ALLOWLIST" in result.content
