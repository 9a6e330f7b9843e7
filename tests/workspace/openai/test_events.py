from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.agent.events import TextDelta
from apps.agent.model import Delta
from apps.workspace.openai.events import CompletionEvents
from apps.workspace.services import event_stream
from apps.workspace.services.event_stream import EventDecoder
from tests.workspace.openai.service import DONE, event, finish, text


def words(deltas: list[Delta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


def decode(*pieces: bytes) -> tuple[str, EventDecoder]:
    decoder = EventDecoder(CompletionEvents())
    deltas = [delta for piece in pieces for delta in decoder.feed(piece)]
    return words([*deltas, *decoder.end()]), decoder


SPOKEN = text("é") + b": comment\n\nid: 1\nretry: 5\n\n" + text("🎉z") + finish() + DONE


@given(
    st.lists(st.integers(0, len(SPOKEN.replace(b"\n", b"\r\n"))), max_size=12),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_where_reads_are_cut_and_how_lines_end_changes_nothing(cuts, line_end):
    spoken = SPOKEN.replace(b"\n", line_end)
    edges = [0, *sorted(cut for cut in cuts if cut < len(spoken)), len(spoken)]

    said, decoder = decode(*(spoken[a:b] for a, b in pairwise(edges)))

    assert (said, decoder.reader.is_done, decoder.reader.has_finished, decoder.failure) == (
        "é🎉z",
        True,
        True,
        None,
    )


def test_one_event_may_have_its_data_on_many_lines():
    said, _ = decode(b'data: {"choices":\ndata:[{"delta":\ndata: {"content":"a"}}]}\n\n')

    assert said == "a"


def test_data_may_follow_its_colon_at_once():
    assert decode(b'data:{"choices":[{"delta":{"content":"a"}}]}\n\n')[0] == "a"


def test_an_event_without_its_blank_line_counts_at_the_end():
    assert decode(text("a").rstrip(b"\n"))[0] == "a"


def test_what_follows_done_is_not_read():
    said, decoder = decode(text("a") + DONE + text("b") + b"data: nonsense\n\n")

    assert (said, decoder.failure) == ("a", None)


def test_nulls_where_a_key_should_be_left_out_are_forgiven():
    loose = (
        b'data: {"choices":[{"index":0,"delta":{"content":"a","tool_calls":[{"index":null,"id":"c",'
        b'"function":{"name":"f","arguments":null}}]}}],"usage":{"prompt_tokens":null}}\n\n'
    )

    said, decoder = decode(loose)

    assert (said, decoder.failure) == ("a", None)


@pytest.mark.parametrize(
    ("sent", "expected", "reason"),
    [
        (b"data: {\n\n", "not JSON", "unreadable"),
        (b"data: \xff\xfe\n\n", "not JSON", "unreadable"),
        (b"data: [1]\n\n", "unreadable event: number", "unreadable"),
        (b'data: {"choices": 5}\n\n', 'unreadable event: {"choices": number}', "unreadable"),
        (b"data: " + b"[" * 100_000 + b"\n\n", "not", "unreadable"),
        (event(error="overloaded"), "aborted its response with an error", "stream"),
        (
            event(choices=[{"error": {"message": "m"}}]),
            "aborted its response with an error",
            "stream",
        ),
        (
            event(choices=[{"finish_reason": "error"}]),
            "aborted its response with an error",
            "stream",
        ),
        (finish("error"), "with the finish reason error", "stream"),
        (finish("FINISH_REASON_ERROR"), "with the finish reason error", "stream"),
        (finish("insufficient_system_resource"), "insufficient_system_resource", "stream"),
        (
            b'event: error\ndata: {"message": "m"}\n\n',
            "aborted its response with an error",
            "stream",
        ),
    ],
)
def test_an_event_that_is_no_chunk_fails_after_what_came_before_it(sent, expected, reason):
    said, decoder = decode(text("a") + sent + text("b"))

    assert said == "a"
    assert decoder.failure is not None
    assert expected in str(decoder.failure)
    assert decoder.failure.reason == reason
    assert not decoder.reader.has_finished


def test_an_event_that_never_ends_is_refused():
    decoder = EventDecoder(CompletionEvents(), most_bytes=100)

    for piece in (b"data: ", *[b"x" * 10] * 20):
        decoder.feed(piece)

    assert decoder.failure is not None
    assert "too large" in str(decoder.failure)


HALF = b'data: {"choices":[{"delta":{"content":"a\\ud83d"}%b}]}\n\n'


@pytest.mark.parametrize("more", [b"", b',"finish_reason":null,"index":"0"', b',"logprobs":null'])
def test_half_of_a_character_is_replaced(more):
    said, decoder = decode(HALF % more, text("b"))

    assert (said, decoder.failure) == ("a\ufffdb", None)


def test_an_error_may_have_half_of_a_character():
    _, decoder = decode(b'data: {"error":{"message":"\\ud83d","code":"429"}}\n\n')

    assert decoder.failure is not None
    assert decoder.failure.status == 429


def test_a_line_that_grows_in_small_pieces_is_looked_at_once():
    """Scanning the whole line again for each piece would take minutes."""
    decoder = EventDecoder(CompletionEvents())

    for _ in range(event_stream.MOST_EVENT_BYTES // 64 + 1):
        decoder.feed(b"x" * 64)

    assert decoder.failure is not None
