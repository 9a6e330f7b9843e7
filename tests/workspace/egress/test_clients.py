from __future__ import annotations

import asyncio
import gzip
import json
import os
import socket
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import httpx2
import pytest

from apps.accounts.authentication import is_local, read_headers
from apps.errors import EgressRefused
from apps.workspace.egress import guarded_transports
from apps.workspace.egress.bodies import BodyUnreadable, ResponseBodyTooLarge, read_body
from apps.workspace.egress.clients import (
    HTTPError,
    find_client,
    make_client,
)
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.guarded_transports import Httpx2Transport
from apps.workspace.egress.headers import MARK
from apps.workspace.egress.sdk_clients import make_sdk_client
from apps.workspace.egress.session_transport import LIMITS
from apps.workspace.egress.transport import StreamTransport
from tests.contract import proves
from tests.servers.closing import close_server
from tests.tables import each_row

pytestmark = pytest.mark.usefixtures("loopback")

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nset-cookie: a=b\r\n\r\nok"


@asynccontextmanager
async def site(*answers: bytes) -> AsyncIterator[tuple[str, list[str]]]:
    """Serve the answers in turn. Yields the requests."""
    seen: list[str] = []
    left = list(answers)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            seen.append((await reader.readuntil(b"\r\n\r\n")).decode())
            writer.write(left.pop(0).replace(b"\r\n", b"\r\nconnection: close\r\n", 1))
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", seen
    finally:
        await close_server(server)
        await server.wait_closed()


def packed(body: bytes, coding: bytes = b"gzip") -> bytes:
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: %b\r\ncontent-length: %d\r\n\r\n"
    return head % (coding, len(body)) + body


async def body_of(answer: bytes, limit: int) -> bytes:
    async with site(answer) as (url, _), find_client(Trust.OPERATOR).stream("GET", url) as response:
        return await read_body(response, limit)


def make_httpx2_client(trust: Trust) -> Any:
    return make_sdk_client(Httpx2Transport(trust, LIMITS))


@each_row("trust", list(Trust))
@each_row("make", [make_client, make_httpx2_client])
async def test_every_address_is_judged_where_the_libraries_dial(make, trust, monkeypatch):
    async def judge(trust, host, port):
        raise EgressRefused(f"{trust.name} {host} {port}")

    monkeypatch.setattr(guarded_transports, "find_addresses", judge)
    client = make(trust)
    with pytest.raises(EgressRefused) as caught:
        await client.get("http://a.example:81/b")
    await client.aclose()

    assert str(caught.value) == f"{trust.name} a.example 81"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"nonsense", "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok", "RemoteProtocolError"),
        (None, "ConnectError"),
    ],
)
@pytest.mark.parametrize(("make", "library"), [(make_client, httpx), (make_httpx2_client, httpx2)])
async def test_what_goes_wrong_below_a_client_is_its_own_error(make, library, answer, error):
    async with site(answer or OK) as (url, _):
        client = make(Trust.OPERATOR)
        with pytest.raises(getattr(library, error)):
            await client.get(url if answer else "http://127.0.0.1:9/")
        await client.aclose()


@pytest.mark.parametrize(("make", "library"), [(make_client, httpx), (make_httpx2_client, httpx2)])
async def test_a_server_that_is_silent_is_a_time_out_of_the_client(make, library):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = make(Trust.OPERATOR)
        with pytest.raises(library.ReadTimeout):
            await client.get(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.1)
        await client.aclose()


@pytest.mark.parametrize("make", [make_client, make_httpx2_client])
async def test_both_libraries_refuse_a_private_address(make):
    async with site(OK) as (url, seen):
        client = make(Trust.GUARDED)
        with pytest.raises(EgressRefused):
            await client.get(url)
        await client.aclose()

    assert seen == []


@pytest.mark.parametrize("make", [make_client, make_httpx2_client])
async def test_both_libraries_reach_what_is_allowed(make):
    async with site(OK) as (url, seen):
        client = make(Trust.OPERATOR)
        response = await client.get(url)
        await client.aclose()

    assert response.content == b"ok"
    assert len(seen) == 1


def make_streaming_client(trust: Trust) -> Any:
    return make_sdk_client(StreamTransport(trust))


@proves("access")
@pytest.mark.parametrize("make", [make_client, make_httpx2_client, make_streaming_client])
async def test_a_request_of_this_site_to_itself_is_none_of_a_local_program(make):
    async with site(OK) as (url, seen):
        client = make(Trust.OPERATOR)
        await client.get(url)
        await client.aclose()

    (request,) = seen
    lines = [line.encode().partition(b": ") for line in request.splitlines()[1:] if line]
    sent = read_headers([(name, value) for name, _, value in lines])
    own = read_headers([(name, value) for name, _, value in lines if name.lower() == MARK[0]])
    assert (own.is_forwarded, is_local(("127.0.0.1", 1), sent)) == (True, False)


async def test_a_redirect_is_not_followed_and_would_be_judged():
    moved = b"HTTP/1.1 302 Found\r\nlocation: http://10.0.0.1/\r\ncontent-length: 0\r\n\r\n"

    async with site(moved, moved) as (url, _):
        response = await find_client(Trust.OPERATOR).get(url)
        with pytest.raises(EgressRefused, match=r"10\.0\.0\.1"):
            await find_client(Trust.OPERATOR).get(url, follow_redirects=True)

    assert response.status_code == 302


async def test_no_cookie_reaches_the_next_caller():
    async with site(OK, OK) as (url, seen):
        await find_client(Trust.OPERATOR).get(url)
        await find_client(Trust.OPERATOR).get(url)

    assert "cookie" not in seen[1].lower()


async def test_the_proxies_of_the_environment_are_not_used(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setitem(os.environ, name, "http://127.0.0.1:1")

    async with site(OK) as (url, seen):
        await find_client(Trust.OPERATOR).get(url)

    assert len(seen) == 1


async def test_callers_share_one_client_of_each_trust():
    assert find_client(Trust.GUARDED) is find_client(Trust.GUARDED)
    assert (
        len({find_client(Trust.GUARDED), find_client(Trust.OPERATOR), find_client(Trust.SITE)}) == 3
    )


def test_every_event_loop_has_its_own_clients_and_closes_them():
    async def make() -> Any:
        return find_client(Trust.OPERATOR)

    first, second = asyncio.run(make()), asyncio.run(make())

    assert first is not second
    assert first.is_closed
    assert second.is_closed


async def test_the_site_is_reached_by_a_relative_address(settings):
    async with site(OK) as (url, seen):
        settings.SITE_URL = url
        settings.PRIVATE_NETWORK_ALLOWLIST = []
        response = await find_client(Trust.SITE).get("/demo/weather")

    assert response.text == "ok"
    assert seen[0].startswith("GET /demo/weather HTTP/1.1\r\n")


async def test_a_body_is_read_whole_up_to_its_limit():
    body = json.dumps({"a": "é" * 100}).encode()

    assert await body_of(packed(gzip.compress(body, mtime=0)), len(body)) == body
    assert await body_of(packed(zlib.compress(body), b"deflate"), len(body)) == body
    assert await body_of(OK, 2) == b"ok"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nokok",
        b"HTTP/1.1 200 OK\r\n\r\nokok",
        packed(gzip.compress(b"0" * 50_000_000, mtime=0)),
    ],
)
async def test_a_body_above_its_limit_is_refused(answer):
    with pytest.raises(ResponseBodyTooLarge) as refused:
        await body_of(answer, 3)

    assert str(refused.value) == "The response is larger than 3 bytes."


@pytest.mark.parametrize(
    "answer",
    [
        packed(b"nonsense"),
        packed(b"x", b"br"),
        packed(gzip.compress(b"a" * 100, mtime=0)[:-12]),
    ],
)
async def test_a_damaged_body_is_refused(answer):
    with pytest.raises(BodyUnreadable):
        await body_of(answer, 1000)


def test_what_is_wrong_with_a_body_is_an_http_error():
    assert issubclass(ResponseBodyTooLarge, HTTPError)
    assert issubclass(BodyUnreadable, HTTPError)
