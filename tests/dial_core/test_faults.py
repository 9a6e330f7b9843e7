"""What can be made to go wrong."""

from __future__ import annotations

import asyncio
import time

import httpx
import pytest

from tests.dial_core import Core, Faults
from tests.dial_core.core import KEY

HELLO = {"messages": [{"role": "user", "content": "Grüß Gott, schöne Welt"}]}
PATH = "/openai/deployments/m/chat/completions"


async def test_the_headers_can_be_late(core: Core):
    core.add_model("m")
    core.faults["m"] = Faults(delay_seconds=0.2)
    begun = time.monotonic()

    reply = await core.call_application("m", HELLO)

    assert reply.status == 200
    assert time.monotonic() - begun >= 0.2


async def test_an_error_can_be_plain_text(core: Core):
    core.add_model("m")
    core.faults["m"] = Faults(error=(500, "Boom"))

    reply = await core.call_application("m", HELLO)

    assert (reply.status, reply.text) == (500, "Boom")


@pytest.mark.parametrize("faults", [Faults(drop_first=True), Faults(drop_after=2)])
async def test_the_connection_can_be_cut(core: Core, faults: Faults):
    core.add_model("m")
    core.faults["m"] = faults

    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
        await core.call_application("m", HELLO)


async def test_a_stream_can_stall(core: Core):
    core.add_model("m")
    core.faults["m"] = Faults(stall_after=2)
    headers = {"Api-Key": KEY}
    body = {**HELLO, "stream": True}
    received = b""

    async with (
        httpx.AsyncClient(base_url=core.url, headers=headers) as client,
        client.stream("POST", PATH, json=body) as reply,
    ):
        parts = reply.aiter_raw()
        while received.count(b"\n\n") < 2:
            received += await anext(parts)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(parts), 0.3)

    assert received.count(b"data: ") == 2


async def test_a_stream_can_be_cut_into_arbitrary_bytes_with_comments_and_both_line_ends(
    core: Core,
):
    core.add_model("m", lambda body: [{"raw": 'data: {"words": "Grüß Gott"}\n\n'}])
    plain = await core.call_application("m", HELLO)
    core.faults["m"] = Faults(piece_bytes=3, comments=True, crlf=True)

    odd = await core.call_application("m", HELLO)

    assert odd.content.count(b": a comment\r\n\r\n") == plain.content.count(b"\n\n")
    assert b"\n" not in odd.content.replace(b"\r\n", b"")
    assert odd.events()[1] == plain.events()[1] == {"words": "Grüß Gott"}


async def test_pieces_come_one_by_one_even_within_a_character():
    async def stream():
        yield "data: ü\n\n".encode()

    pieces = [piece async for piece in Faults(piece_bytes=7).during(stream())]

    assert pieces == [b"data: \xc3", b"\xbc\n\n"]
