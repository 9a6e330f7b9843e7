"""The decoder's fast path reads exactly what the slow one reads."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from apps.agent.events import TextDelta
from apps.agent.model import Delta, ReasoningDelta
from apps.workspace.openai.chunks import MOST_ATTEMPTS, TextForm
from apps.workspace.openai.events import CompletionEvents
from apps.workspace.services.event_stream import EventDecoder
from tests.tables import each_row
from tests.workspace.openai.service import text


def thinks(words: str, **more: Any) -> bytes:
    return json.dumps(
        {"choices": [{"delta": {"content": None, "reasoning": words}}], **more}
    ).encode()


def says(words: str, **more: Any) -> bytes:
    return json.dumps({"id": "1", "choices": [{"delta": {"content": words}}], **more}).encode()


def learned(payload: bytes, *said: Delta) -> TextForm:
    form = TextForm()
    form.learn(payload, said)
    return form


def test_a_text_between_the_same_bytes_is_read_without_decoding():
    form = learned(says("word"), TextDelta("word"))

    assert form.read(says("another")) == TextDelta("another")
    assert learned(thinks("Hm."), ReasoningDelta("Hm.", "reasoning")).read(
        thinks("So.")
    ) == ReasoningDelta("So.", "reasoning")


@each_row(
    "other",
    [
        says('a "quote"'),
        says("a \\ and a line\n"),
        says("\ud83d"),
        says(""),
        says("word", id="2"),
        thinks("word"),
        says("word")[:-1],
        says("word").replace(b"word", b"\xff"),
        says("word").replace(b"word", b"wo\nrd"),
        says("word").replace(b"word", b'a", "refusal": "b'),
        b"[DONE]",
    ],
)
def test_everything_else_is_left_to_the_decoder(other):
    assert learned(says("word"), TextDelta("word")).read(other) is None


def test_a_place_that_does_not_say_the_text_is_not_learned():
    misleading = json.dumps({"note": "word", "choices": [{"delta": {"content": "word"}}]}).encode()

    assert learned(misleading, TextDelta("word")).read(misleading) is None


def test_a_service_that_never_repeats_itself_is_given_up():
    form = TextForm()

    tried = [form.learn(says("a", id=str(n)), [TextDelta("a")]) for n in range(MOST_ATTEMPTS)]

    assert tried == [True] * (MOST_ATTEMPTS - 1) + [False]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=8))
def test_the_short_way_says_what_was_sent(words):
    decoder = EventDecoder(CompletionEvents())

    deltas = [delta for word in ["word", *words] for delta in decoder.feed(text(word))]

    assert deltas == [TextDelta(word) for word in ["word", *words] if word]
