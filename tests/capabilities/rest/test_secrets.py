"""Secrets in REST toolsets: where they are sent, where they are never sent, and what is reported."""

import json
from typing import Any

import pytest

from apps.agent.events import Event
from apps.capabilities.rest.capability import rest
from apps.capabilities.rest.response_text import hide_in_body
from apps.workspace.local.models import Secret
from tests.capabilities.manifests import (
    OTHERWISE,
    manifest,
    opened,
    parameter,
    stage_text,
    tool,
    tool_set,
    use,
)
from tests.capabilities.rest.test_authorizations import Accounts, credentials, encoded
from tests.capabilities.service import Reply, json_reply, serving
from tests.contract import proves

MARK = "sk-marked-0123456789"
NAMED = {"$secret": "shop"}

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]


async def store(url: str, **values: Any) -> Secret:
    return await Secret.objects.acreate(name="shop", **{"value": MARK, "servers": [url], **values})


@proves("8")
@pytest.mark.parametrize(
    ("authorization", "header", "value"),
    [
        ({"type": "bearer", "token": NAMED}, "authorization", f"Bearer {MARK}"),
        (
            {"type": "basic", "username": "ann", "password": NAMED},
            "authorization",
            f"Basic {encoded(f'ann:{MARK}')}",
        ),
        ({"type": "api_key", "name": "X-K", "location": "header", "key": NAMED}, "x-k", MARK),
    ],
)
async def test_a_secret_is_sent_in_the_place_of_a_credential(authorization, header, value):
    async with serving(json_reply("{}"), json_reply("{}")) as service:
        secret = await store(service.url)
        document = manifest(tool_set(tool(f"{service.url}/a"), authorization=authorization))

        async with opened(rest, document) as contribution:
            await use(contribution.tools[0])
            secret.value = "sk-new"
            await secret.asave()
            await use(contribution.tools[0])

    first, second = (seen.headers[header] for seen in service.seen)
    assert first == value
    assert second in {value.replace(MARK, "sk-new"), f"Basic {encoded('ann:sk-new')}"}
    assert MARK not in repr(document)
    assert MARK not in repr(contribution)


@proves("8")
async def test_a_constant_can_be_a_secret_anywhere_in_the_request_and_is_not_shown():
    properties = {
        "q": parameter("query", "k", None, const=NAMED),
        "h": parameter("header", "X-Lines", None, const=NAMED),
        "u": parameter("url", "bot", None, const=NAMED),
        "b": parameter("body", "k", None, const=NAMED),
        "plain": parameter("header", "X-Api-Key", None, const="sk-typed"),
        "word": parameter("body", "word"),
    }
    events: list[Event] = []
    async with serving(json_reply("{}")) as service:
        await store(service.url)
        item = tool(f"{service.url}/{{bot}}/a", "post", properties)

        async with opened(rest, manifest(tool_set(item))) as contribution:
            (used,) = contribution.tools
            result = await use(used, events.append, word="yes", q="mine", b="mine")

    (seen,) = service.seen
    assert seen.target == f"/{MARK}/a?k={MARK}"
    assert seen.told("x-lines", "x-api-key") == {"x-lines": MARK, "x-api-key": "sk-typed"}
    assert json.loads(seen.body) == {"k": MARK, "word": "yes"}
    assert list(used.spec.parameters["properties"]) == ["word"]
    for said in (repr(events), stage_text(events), repr(result), repr(contribution)):
        assert MARK not in said
        assert "sk-typed" not in said


@proves("8")
async def test_a_secret_does_not_follow_a_redirect_to_another_server():
    bearer = {"type": "bearer", "token": NAMED}
    async with serving(json_reply("{}")) as thief:
        moved = Reply(307, b"", {"location": f"{thief.url}/take"})
        async with serving(moved) as service:
            await store(service.url)
            document = manifest(tool_set(tool(f"{service.url}/a"), authorization=bearer))

            async with opened(rest, document) as contribution:
                await use(contribution.tools[0])

    assert len(service.seen) == 1
    assert thief.seen == []


@proves("8")
@pytest.mark.parametrize(
    ("how", "path"),
    [
        ({"authorization": {"type": "bearer", "token": NAMED}}, "authorization.token"),
        ({}, "tools[0].open_ai_tool.function.parameters.properties.k.const"),
    ],
)
async def test_a_tool_of_another_server_is_left_out_with_the_place_of_the_secret(how, path):
    own = tool("https://api.example.org/a")
    constant = {} if how else {"k": parameter("query", "k", None, const=NAMED)}
    async with serving(json_reply("{}")) as thief:
        await store("https://api.example.org")
        stolen = tool(f"{thief.url}/a", properties=constant)
        own["open_ai_tool"]["function"]["name"] = "other"

        async with opened(rest, manifest(tool_set(stolen, own, **how))) as contribution:
            names = [one.spec.name for one in contribution.tools]

    assert names == ([] if how else ["shop_other"])
    assert [issue.message for issue in contribution.issues] == [
        f"tool_sets[0].{path}: The secret 'shop' may not be sent to {thief.url}. "
        "An administrator of this installation can fix it."
    ]
    assert thief.seen == []


async def test_a_secret_that_is_not_there_is_an_issue_and_the_other_toolsets_go_on():
    bearer = {"type": "bearer", "token": NAMED}
    missing = tool_set(tool("https://api.example.org/a"), authorization=bearer, name="gone")
    present = tool_set(tool("https://api.example.org/a"))

    async with opened(rest, manifest(missing, present)) as contribution:
        names = [one.spec.name for one in contribution.tools]

    assert names == ["shop_look_up"]
    assert [issue.message for issue in contribution.issues] == [
        (
            "tool_sets[0].authorization.token: the secret 'shop' does not exist. An administrator "
            "of this installation can fix it."
        )
    ]


async def test_a_secret_that_goes_in_the_middle_of_a_run_fails_the_call():
    bearer = {"type": "bearer", "token": NAMED}
    async with serving(json_reply("{}")) as service:
        secret = await store(service.url)
        document = manifest(tool_set(tool(f"{service.url}/a"), authorization=bearer))

        async with opened(rest, document) as contribution:
            await secret.adelete()
            result = await use(contribution.tools[0])

    assert service.seen == []
    assert result.content == (
        "The secret 'shop' does not exist. An administrator of this installation can fix it."
        f"{OTHERWISE}"
    )


@proves("8")
async def test_a_token_is_fetched_anew_with_a_rotated_secret():
    accounts = Accounts()
    async with serving(answer=accounts.answer) as service:
        secret = await store(service.url)
        how = {**credentials(f"{service.url}/token"), "client_secret": NAMED}
        document = manifest(tool_set(tool(f"{service.url}/a"), authorization=how))

        async with opened(rest, document) as contribution:
            await use(contribution.tools[0])
            await use(contribution.tools[0])
            secret.value = "sk-new"
            await secret.asave()
            await use(contribution.tools[0])

    assert service.targets == ["POST /token", "GET /a", "GET /a", "POST /token", "GET /a"]
    asked = [s.headers["authorization"] for s in service.seen if s.method == "POST"]
    assert asked == [f"Basic {encoded(f'me:{MARK}')}", f"Basic {encoded('me:sk-new')}"]


@proves("8")
async def test_a_token_that_a_secret_bought_does_not_go_to_another_server():
    """Otherwise, an editor of a manifest could have the token sent to their own server."""
    accounts = Accounts()
    async with serving(answer=accounts.answer) as service, serving(json_reply("{}")) as thief:
        await store(service.url)
        how = {**credentials(f"{service.url}/token"), "client_secret": NAMED}
        document = manifest(tool_set(tool(f"{thief.url}/a"), authorization=how))

        async with opened(rest, document) as contribution:
            assert contribution.tools == ()

    assert (service.seen, thief.seen) == ([], [])


@proves("8")
@pytest.mark.parametrize(
    ("authorization", "sent"),
    [
        ({"type": "bearer", "token": NAMED}, "Bearer {}"),
        ({"type": "bearer", "token": MARK}, "Bearer {}"),
        ({"type": "basic", "username": "ann", "password": NAMED}, "Basic {}"),
        ({"type": "api_key", "name": "k", "location": "query", "key": NAMED}, "?k={}"),
    ],
)
@pytest.mark.parametrize("status", [200, 401])
async def test_what_a_service_repeats_of_a_credential_is_not_passed_on(authorization, sent, status):
    async def echo(seen: Any) -> Reply:
        said = f"{seen.target.removeprefix('/a')} {seen.headers.get('authorization', '')}"
        return Reply(status, said.strip().encode(), {"Content-Type": "text/plain"})

    events: list[Event] = []
    async with serving(answer=echo) as service:
        await store(service.url)
        document = manifest(tool_set(tool(f"{service.url}/a"), authorization=authorization))

        async with opened(rest, document) as contribution:
            result = await use(contribution.tools[0], events.append)

    said = sent.format("[hidden]")
    assert said in stage_text(events)
    assert (result.content == said) is (status == 200)
    for place in (repr(events), repr(result)):
        assert MARK not in place
        assert encoded(f"ann:{MARK}") not in place


MIXED = "sk/<marked>&+0123"
SPELLED = {
    "PHP": json.dumps({"key": MIXED}).replace("/", r"\/").encode(),
    "Go": json.dumps({"key": MIXED}).replace("<", r"\u003c").replace("&", r"\u0026").encode(),
    "coded": b'{"key": "%s"}' % "".join(f"\\u00{ord(one):02x}" for one in MIXED).encode(),
    "UTF-16": json.dumps({"key": MIXED}).encode("utf-16"),
}


@proves("8")
@pytest.mark.parametrize("body", SPELLED.values(), ids=SPELLED)
@pytest.mark.parametrize("status", [200, 403])
async def test_another_spelling_of_a_credential_is_hidden_from_the_model_and_the_stage(
    body, status
):
    events: list[Event] = []
    answer = Reply(status, body, {"Content-Type": "application/json"})
    async with serving(answer) as service:
        await store(service.url, value=MIXED)
        bearer = {"type": "bearer", "token": NAMED}
        document = manifest(tool_set(tool(f"{service.url}/a"), authorization=bearer))

        async with opened(rest, document) as contribution:
            result = await use(contribution.tools[0], events.append)

    assert '"key": "[hidden]"' in stage_text(events)
    if status == 200:
        assert json.loads(result.content.removeprefix("\ufeff")) == {"key": "[hidden]"}
    else:
        assert "marked" not in result.content


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_a_credential_in_a_body_that_is_no_text_is_hidden(encoding):
    body = b"\0\xff" + MARK.encode(encoding) + b"\xfe"

    hidden = hide_in_body(body, "image/png", [MARK])

    assert hidden == b"\0\xff[hidden]\xfe"


@pytest.mark.parametrize("kind", ["text/plain; charset=utf-16-le", "text/plain; charset=idna", ""])
def test_a_charset_that_is_not_that_of_the_body_shows_no_credential(kind):
    assert hide_in_body(f"Not {MARK}!".encode(), kind, [MARK]) == b"Not [hidden]!"


def test_a_body_keeps_its_encoding():
    body = f"Schl\u00fcssel {MARK}".encode("iso8859-1")

    hidden = hide_in_body(body, "text/plain; charset=iso-8859-1", [MARK])

    assert hidden == "Schl\u00fcssel [hidden]".encode("iso8859-1")
