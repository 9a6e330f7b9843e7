from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

APPLICATION = """
import asyncio, sys
from quickapps_site.serve import serve, use_uvloop

use_uvloop()
from quickapps_site.uploads import bound_bodies
bound_bodies(lambda path: 1000 if path == "/sm\u00e4ll" else 4_000_000, float(sys.argv[3]))

errors = []

async def talk(receive, send):
    await receive()
    await send({"type": "websocket.accept"})
    leaving = asyncio.ensure_future(receive())
    try:
        while not leaving.done():
            await send({"type": "websocket.send", "text": "word"})
            await asyncio.sleep(0)
    except Exception as error:
        errors.append(type(error).__name__)

async def application(scope, receive, send):
    if scope["type"] == "websocket":
        return await talk(receive, send)
    path = scope["path"]
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    async def say(piece, more=True):
        await send({"type": "http.response.body", "body": piece, "more_body": more})
    if path == "/torrent":
        for number in range(2000):
            await say(b"%06d" % number * 1000)
            if number % 100 == 0:
                await asyncio.sleep(0)
    elif path == "/tokens":
        for number in range(50):
            await say(b"data: %d\\n\\n" % number)
            await asyncio.sleep(0)
    elif path == "/slow":
        await say(b"begun ")
        await asyncio.sleep(0.5)
        await say(b"ended")
    elif path == "/endless":
        await say(b"begun ")
        await asyncio.sleep(60)
    elif path == "/loop":
        await say(type(asyncio.get_running_loop()).__module__.encode())
    elif path == "/errors":
        await say(",".join(errors).encode())
    elif path == "/echo":
        await say(str(len(body)).encode())
    await say(b"", False)

sys.exit(serve(application, "127.0.0.1", int(sys.argv[1]), direct_writes=sys.argv[2] == "direct"))
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def start(port: int, writes: str, seconds: float = 60.0) -> asyncio.subprocess.Process:
    """`seconds` are for the body of a request to arrive."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        APPLICATION,
        str(port),
        writes,
        str(seconds),
        stderr=asyncio.subprocess.PIPE,
        # Whoever runs tests in the background has them ignore it, and what they start as well.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


@asynccontextmanager
async def server(
    writes: str, seconds: float = 60.0
) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    port = free_port()
    process = await start(port, writes, seconds)
    try:
        async with asyncio.timeout(60):
            await until_it_listens(process, port)
            yield process, port
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def until_it_listens(process: asyncio.subprocess.Process, port: int) -> None:
    while process.returncode is None:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.02)
        else:
            writer.close()
            return
    raise AssertionError("The server ended before it listened.")


async def ask(
    port: int, path: str, body: bytes = b""
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A request whose answer ends with its connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST {path} HTTP/1.0\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()
    return reader, writer


async def answer(port: int, path: str, body: bytes = b"") -> bytes:
    reader, writer = await ask(port, path, body)
    whole = await reader.read()
    writer.close()
    return whole.partition(b"\r\n\r\n")[2]


both = pytest.mark.parametrize("writes", ["direct", "queued"])


@both
async def test_it_runs_on_uvloop_and_reads_large_bodies(writes):
    async with server(writes) as (_, port):
        assert await answer(port, "/loop") == b"uvloop"
        assert await answer(port, "/echo", b"x" * 3_000_000) == b"3000000"


@both
async def test_tokens_arrive_whole_and_in_order_to_many_at_a_time(writes):
    expected = b"".join(b"data: %d\n\n" % number for number in range(50))

    async with server(writes) as (_, port):
        answers = await asyncio.gather(*(answer(port, "/tokens") for _ in range(50)))

    assert answers == [expected] * 50


@both
async def test_a_reader_that_cannot_keep_up_loses_nothing(writes):
    expected = b"".join(b"%06d" % number * 1000 for number in range(2000))

    async with server(writes) as (_, port):
        reader, writer = await ask(port, "/torrent")
        for _ in range(50):  # a few bytes at a time while the server fills every buffer
            assert await reader.read(10)
            await asyncio.sleep(0.001)
        rest = await reader.read()
        writer.close()

    assert rest.endswith(expected[-6_000_000:])


@both
async def test_a_reader_that_leaves_in_the_middle_harms_nobody(writes):
    async with server(writes) as (_, port):
        for _ in range(5):
            reader, writer = await ask(port, "/torrent")
            await reader.read(1000)
            writer.transport.abort()
        assert await answer(port, "/loop") == b"uvloop"


@both
async def test_what_is_said_to_a_socket_that_is_closing_is_no_error(writes):
    upgrade = (
        b"GET / HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
        b"sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    goodbye = bytes([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE9])  # masked, code 1001: going away

    async with server(writes) as (_, port):
        for _ in range(5):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(upgrade)
            await reader.readuntil(b"word")
            writer.write(goodbye)
            await reader.read()
            writer.close()
        assert await answer(port, "/errors") == b""


@both
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_an_answer_that_has_begun_is_finished_before_the_server_stops(writes, number):
    async with server(writes) as (process, port):
        reader, writer = await ask(port, "/slow")
        begun = await reader.readuntil(b"begun ")
        process.send_signal(number)
        rest = await reader.read()
        writer.close()
        status = await process.wait()

    assert begun.endswith(b"begun ")
    assert rest == b"ended"
    assert status == 0


@both
async def test_a_port_that_is_taken_ends_the_start_with_an_error(writes):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        process = await start(taken.getsockname()[1], writes)
        _, errors = await process.communicate()

    assert process.returncode == 1
    assert b"Cannot listen" in errors


async def test_the_site_itself_is_served(tmp_path):
    port = free_port()
    environment = {**os.environ, "PORT": str(port), "DATA_DIR": str(tmp_path), "DEBUG": "false"}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "quickapps_site.serve",
        env=environment,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(60):
            await until_it_listens(process, port)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /healthz HTTP/1.0\r\nhost: localhost\r\n\r\n")
            said = await reader.read()
            writer.close()
            process.send_signal(signal.SIGTERM)
            status = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()

    assert b" 200 " in said.split(b"\r\n")[0]
    assert status == 0


async def test_a_body_that_never_ends_is_cut_off_and_nobody_else_is_harmed():
    async with server("direct") as (_, port):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            b"POST /echo HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        try:
            while True:
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass
        writer.close()

        head, writer = await ask(port, "/echo", b"x" * 4_000_001)
        assert (await head.readline()).startswith(b"HTTP/1.1 413")
        writer.close()
        assert await answer(port, "/echo", b"x" * 4_000_000) == b"4000000"


def refused(status: int, phrase: str, message: str, code: str) -> bytes:
    body = json.dumps({"error": {"message": message, "code": code}}).encode()
    head = f"HTTP/1.1 {status} {phrase}\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body


async def test_a_body_that_says_it_is_too_large_for_its_path_is_refused_before_it_comes():
    head = b"POST %b HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1001\r\n\r\n"

    async with server("direct") as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head % b"/sm%C3%A4ll?x=/")
        told = await reader.read()
        writer.close()
        reader, writer = await ask(port, "/echo", b"x" * 1001)
        whole = await reader.read()
        writer.close()

    message = "The request is too large; at most 1,000 bytes are possible."
    assert told == refused(413, "Request Entity Too Large", message, "too_large")
    assert whole.endswith(b"1001")


async def test_who_sends_all_before_reading_still_hears_that_it_was_too_much():
    async with server("direct") as (_, port):
        reader, writer = await ask(port, "/sm%C3%A4ll", b"x" * 3_000_000)
        told = await reader.read()
        writer.close()

    assert told.startswith(b"HTTP/1.1 413 ")
    assert told.endswith(b'"code": "too_large"}}')


@pytest.mark.parametrize("length", [b"content-length: 900", b"transfer-encoding: chunked"])
async def test_a_body_that_drips_is_ended(length):
    async with server("direct", 0.2) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST /echo HTTP/1.1\r\nhost: localhost\r\n" + length + b"\r\n\r\n")
        answering = asyncio.create_task(reader.read())
        while not answering.done():
            with suppress(ConnectionError):
                writer.write(b"1\r\nx\r\n" if b"chunked" in length else b"x")
                await writer.drain()
            await asyncio.wait([answering], timeout=0.01)
        told = await answering
        writer.close()
        assert await answer(port, "/loop") == b"uvloop"  # who is quick has all the time

    message = "The request did not arrive within 0.2 seconds."
    assert told == refused(408, "Request Timeout", message, "too_slow")
