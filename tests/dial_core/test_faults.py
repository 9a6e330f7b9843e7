"""Every configurable fault."""

from __future__ import annotations

from tests.dial_core import Core, Faults

HELLO = {"messages": [{"role": "user", "content": "Grüß Gott, schöne Welt"}]}


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
