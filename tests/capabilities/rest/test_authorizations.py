"""Credentials in requests to a service."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from apps.accounts.caller import Credentials
from apps.agent.tools import Tool
from apps.capabilities.rest.capability import rest
from tests.capabilities.manifests import (
    CALLER,
    OTHERWISE,
    manifest,
    opened,
    parameter,
    tool,
    tool_set,
    use,
)
from tests.capabilities.service import Reply, Seen, Service, json_reply, serving
from tests.contract import proves
from tests.tables import each_row

pytestmark = pytest.mark.usefixtures("loopback")


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@proves("8")
@pytest.mark.parametrize(
    ("authorization", "target", "headers", "body"),
    [
        (
            {"type": "basic", "username": "ann", "password": "pä:ss"},
            "/a?k=mine",
            {"authorization": f"Basic {encoded('ann:pä:ss')}", "x-k": "mine"},
            {"k": "mine"},
        ),
        (
            {"type": "bearer", "token": "t-1"},
            "/a?k=mine",
            {"authorization": "Bearer t-1", "x-k": "mine"},
            {"k": "mine"},
        ),
        (
            {"type": "api_key", "name": "X-K", "key": "s3", "location": "header"},
            "/a?k=mine",
            {"x-k": "s3"},
            {"k": "mine"},
        ),
        (
            {"type": "api_key", "name": "k", "key": "s 3", "location": "query"},
            "/a?k=s%203",
            {"x-k": "mine"},
            {"k": "mine"},
        ),
        (
            {"type": "api_key", "name": "k", "key": "s3", "location": "body"},
            "/a?k=mine",
            {"x-k": "mine"},
            {"k": "s3"},
        ),
        (
            {"type": "forward_auth_token"},
            "/a?k=mine",
            {"authorization": "Bearer own", "x-k": "mine"},
            {"k": "mine"},
        ),
    ],
)
async def test_credentials_are_written_over_arguments(authorization, target, headers, body):
    caller = replace(CALLER, credentials=Credentials(bearer="own"))
    properties = {
        "q": parameter("query", "k"),
        "h": parameter("header", "X-K"),
        "b": parameter("body", "k"),
    }
    async with serving(json_reply("{}")) as service:
        item = tool(f"{service.url}/a", "post", properties)
        document = manifest(tool_set(item, authorization=authorization))

        async with opened(rest, document, caller) as contribution:
            await use(contribution.tools[0], q="mine", h="mine", b="mine")

    (seen,) = service.seen
    assert (seen.target, seen.told("authorization", "x-k"), json.loads(seen.body)) == (
        target,
        headers,
        body,
    )


@proves("8")
async def test_forwarding_a_token_that_the_caller_does_not_have_is_an_error():
    async with serving(json_reply("{}")) as service:
        document = manifest(
            tool_set(tool(f"{service.url}/a"), authorization={"type": "forward_auth_token"})
        )

        async with opened(rest, document) as contribution:
            result = await use(contribution.tools[0])

    assert service.seen == []
    assert result.content == (
        f"This tool uses the caller's own sign-in, but the request has no bearer token. Sign in, or send an Authorization header.{OTHERWISE}"
    )


def credentials(token_url: str, **more: str) -> dict[str, str]:
    return {
        "type": "client_id_secret",
        "client_id": "me",
        "client_secret": "s3cret",
        "token_url": token_url,
        **more,
    }


@asynccontextmanager
async def tool_with_token(service: Service) -> AsyncIterator[Tool]:
    """Return the tool of a service that gets its tokens from a token service at the same address."""
    how = credentials(f"{service.url}/token")
    async with opened(
        rest, manifest(tool_set(tool(f"{service.url}/a"), authorization=how))
    ) as found:
        yield found.tools[0]


class Accounts:
    """A token service, and a service that accepts only its newest token."""

    def __init__(self, expires_in: object = 3600) -> None:
        self.expires_in = expires_in
        self.issued = 0
        self.accepts_old = True

    async def answer(self, seen: Seen) -> Reply:
        if seen.target.startswith("/token"):
            self.issued += 1
            await asyncio.sleep(0)
            token = {"access_token": f"t-{self.issued}", "expires_in": self.expires_in}
            return json_reply(json.dumps(token))
        newest = f"Bearer t-{self.issued}"
        good = self.accepts_old or seen.headers["authorization"] == newest
        return json_reply("{}", 200 if good else 401)


@proves("8")
async def test_a_token_is_fetched_once_for_concurrent_calls_and_kept():
    accounts = Accounts()
    async with serving(answer=accounts.answer) as service:
        how = credentials(f"{service.url}/token?tenant=1", scope="read write", aud="api")
        document = manifest(tool_set(tool(f"{service.url}/a"), authorization=how))

        async with opened(rest, document) as contribution:
            await asyncio.gather(*(use(contribution.tools[0]) for _ in range(5)))
        async with opened(rest, document) as contribution:
            await use(contribution.tools[0])

    token, *calls = service.seen
    assert (token.method, token.target, token.body) == (
        "POST",
        "/token?tenant=1",
        b"grant_type=client_credentials&scope=read+write&audience=api",
    )
    assert token.told("authorization", "content-type") == {
        "authorization": f"Basic {encoded('me:s3cret')}",
        "content-type": "application/x-www-form-urlencoded",
    }
    assert [(c.target, c.headers["authorization"]) for c in calls] == [("/a", "Bearer t-1")] * 6


@proves("8")
@pytest.mark.parametrize(
    ("expires_in", "after", "fetches"),
    [(100, 69, 1), (100, 71, 2), ("100", 71, 2), (None, 269, 1), (None, 271, 2), (10, 0, 2)],
)
async def test_a_token_is_renewed_shortly_before_it_expires(
    expires_in, after, fetches, monkeypatch
):
    accounts = Accounts(expires_in)
    now = 1000.0
    monkeypatch.setattr("apps.workspace.egress.oauth_tokens.time.monotonic", lambda: now)
    async with serving(answer=accounts.answer) as service, tool_with_token(service) as item:
        await use(item)
        now += after
        await use(item)

    assert accounts.issued == fetches


@proves("8")
async def test_a_refused_token_is_renewed_once():
    accounts = Accounts()
    async with serving(answer=accounts.answer) as service, tool_with_token(service) as item:
        await use(item)
        accounts.issued, accounts.accepts_old = 7, False

        renewed = await use(item)
        accounts.accepts_old, accounts.issued = False, 90
        await asyncio.gather(*(use(item) for _ in range(3)))

    assert renewed.content == "{}"
    first, at_once = service.targets[:5], service.targets[5:]
    assert first == ["POST /token", "GET /a", "GET /a", "POST /token", "GET /a"]
    assert sorted(at_once) == [*["GET /a"] * 6, "POST /token"]


@proves("8")
async def test_fifty_callers_with_a_token_that_was_withdrawn_renew_it_once():
    accounts = Accounts()
    async with serving(answer=accounts.answer) as service, tool_with_token(service) as item:
        await use(item)
        accounts.issued, accounts.accepts_old = 7, False
        results = await asyncio.gather(*(use(item) for _ in range(50)))

    assert [result.content for result in results] == ["{}"] * 50
    assert service.targets.count("POST /token") == 2
    good = [s for s in service.seen[2:] if s.headers.get("authorization") == "Bearer t-8"]
    assert len(good) == 50


@proves("8")
async def test_a_service_that_refuses_every_token_is_asked_twice():
    async def answer(seen: Seen) -> Reply:
        if seen.target == "/token":
            return json_reply('{"access_token": "t"}')
        return json_reply("no", 401)

    async with serving(answer=answer) as service, tool_with_token(service) as item:
        result = await use(item)

    assert result.content == f"shop_look_up: the service returned 401 Unauthorized{OTHERWISE}"
    assert service.targets == ["POST /token", "GET /a", "POST /token", "GET /a"]


@each_row(
    ("reply", "message"),
    [
        (json_reply('{"error": "s3cret"}', 400), "The token service returned status 400."),
        (Reply(200, b"<html>"), "The token service did not return JSON."),
        (Reply(200, b"\xff"), "The token service did not return JSON."),
        (json_reply("[]"), "The token service returned no usable `access_token`."),
        (
            json_reply('{"access_token": 5}'),
            "The token service returned no usable `access_token`.",
        ),
        (
            json_reply('{"access_token": "a\\r\\nb"}'),
            "The token service returned no usable `access_token`.",
        ),
        (
            Reply(302, b"", {"Location": "http://elsewhere.example/"}),
            "The token service returned status 302.",
        ),
        (Reply(200, b"x" * 70_000), "The token service could not be reached."),
    ],
)
async def test_a_token_service_that_fails_is_told_without_its_words(reply, message):
    async with serving(reply) as service, tool_with_token(service) as item:
        result = await use(item)

    assert result.content == f"{message}{OTHERWISE}"
    assert service.targets == ["POST /token"]


async def test_a_caller_that_goes_away_does_not_keep_others_from_the_token():
    arrived, answering = asyncio.Event(), asyncio.Event()

    async def answer(seen: Seen) -> Reply:
        if seen.target == "/token":
            arrived.set()
            await answering.wait()
            return json_reply('{"access_token": "t"}')
        return json_reply('"done"')

    async with serving(answer=answer) as service, tool_with_token(service) as item:
        first = asyncio.ensure_future(use(item))
        await asyncio.wait_for(arrived.wait(), 60)
        second = asyncio.ensure_future(use(item))
        first.cancel()
        await asyncio.wait([first])
        answering.set()

        result = await asyncio.wait_for(second, 60)

    assert (first.cancelled(), result.content) == (True, '"done"')
