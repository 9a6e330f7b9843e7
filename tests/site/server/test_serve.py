"""Behaviour of the server itself, whatever it serves."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.site.server.raw_server import (
    DAPHNE,
    OURS,
    answer,
    ask,
    is_open,
    joined,
    served,
    shared,
    start,
)

FORWARDED = "x-forwarded-for: 127.0.0.1, 10.9.8.7\r\n"


@pytest.fixture(scope="module")
def ours() -> Iterator[int]:
    with shared(OURS) as port:
        yield port


@pytest.fixture(scope="module", params=[OURS, DAPHNE], ids=["ours", "daphne"])
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    if request.param == OURS:
        yield request.getfixturevalue("ours")
        return
    with shared(DAPHNE) as port:
        yield port


async def test_it_runs_on_uvloop_and_reads_large_bodies_as_they_come(ours):
    assert await answer(ours, "/loop") == "uvloop"
    assert await answer(ours, "/", b"x" * 3_000_000) == "3000000 in pieces"


async def test_tokens_arrive_whole_and_in_order_to_many_at_a_time(port):
    expected = "".join(f"data: {number}\n\n" for number in range(50))

    answers = await asyncio.gather(*(answer(port, "/tokens") for _ in range(50)))

    assert answers == [expected] * 50


async def test_a_reader_that_cannot_keep_up_loses_nothing(port):
    expected = b"".join(b"%06d" % number * 1000 for number in range(2000))

    reader, writer = await ask(port, "/torrent")
    begun = b""
    for _ in range(50):  # a few bytes at a time while the server fills every buffer
        begun += await reader.read(10)
        await asyncio.sleep(0)
    rest = await reader.read()
    writer.close()

    assert joined(begun + rest) == expected


async def test_a_reader_that_leaves_in_the_middle_harms_nobody(port):
    for _ in range(5):
        reader, writer = await ask(port, "/torrent")
        await reader.read(1000)
        writer.transport.abort()
    assert await answer(port, "/", b"x") == "1 in one piece"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_an_answer_that_has_begun_is_finished_before_the_server_stops(number):
    async with served("--grace", "60") as (process, port):
        reader, writer = await ask(port, "/slow")
        await reader.readuntil(b"begun ")
        process.send_signal(number)
        rest = await reader.read()
        writer.close()
        status = await process.wait()

    assert (rest, status) == (b"\r\n5\r\nended\r\n0\r\n\r\n", 0)


async def test_an_answer_without_an_end_is_cut_off_when_the_server_stops():
    async with served("--grace", "0.2") as (process, port):
        reader, writer = await ask(port, "/endless")
        await reader.readuntil(b"begun ")
        process.send_signal(signal.SIGTERM)
        rest = await reader.read()
        writer.close()
        status = await process.wait()

    # neither the end of the answer nor a sign of the server's timeout
    assert (rest, status) == (b"\r\n", 0)


async def test_a_further_ctrl_c_ends_the_server_at_once():
    async with served("--grace", "600") as (process, port):
        reader, writer = await ask(port, "/endless")
        await reader.readuntil(b"begun ")
        process.send_signal(signal.SIGINT)
        while await is_open(port):
            await asyncio.sleep(0.02)
        process.send_signal(signal.SIGTERM)  # sends nothing new
        process.send_signal(signal.SIGINT)
        status = await process.wait()
        writer.close()

    assert status == -signal.SIGINT


async def test_a_port_that_is_taken_ends_the_start_with_one_line():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = await start(port, OURS)
        _, errors = await process.communicate()

    assert process.returncode == 1
    assert errors.decode().splitlines() == [
        f"Cannot listen on 127.0.0.1:{port}: [Errno 98] Address already in use"
        f" (while attempting to bind on address ('127.0.0.1', {port}))"
    ]


# --- Bodies --------------------------------------------------------------------------------------


@pytest.mark.slow("starts a site in a process of its own")
async def test_a_body_that_never_ends_is_cut_off_and_nobody_else_is_harmed(ours):
    _, writer = await asyncio.open_connection("127.0.0.1", ours)
    writer.write(b"POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n")
    piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    with suppress(ConnectionError):
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)  # a lost connection is visible
    writer.close()
    assert await answer(ours, "/", b"x" * 4_000_000) == "4000000 in pieces"


async def test_a_client_that_sends_all_before_reading_still_hears_that_it_was_too_much(ours):
    reader, writer = await ask(ours, "/small", b"x" * 3_000_000)
    told = await reader.read()
    writer.close()

    head, _, body = told.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413 ")
    message = "The request is too large; the limit is 1,000 bytes."
    assert json.loads(body) == {"error": {"message": message, "code": "too_large"}}


# --- Proxies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2"])
async def test_a_client_is_whoever_connects_whatever_its_headers_say(ours, address):
    assert await answer(ours, "/client", headers=FORWARDED, address=address) == address


async def test_a_named_proxy_tells_who_the_client_is_and_nobody_else_does():
    async with served("--proxies", "127.0.0.2", "10.1.0.0/16") as (_, port):
        asked = {
            address: await answer(port, "/client", headers=FORWARDED, address=address)
            for address in ("127.0.0.1", "127.0.0.2")
        }

    assert asked == {"127.0.0.1": "127.0.0.1", "127.0.0.2": "10.9.8.7"}
