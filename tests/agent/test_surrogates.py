import json

import msgspec
import pytest

from apps.agent.surrogates import SurrogateReplacer, decode_json, replace_surrogates, well_formed
from tests.tables import each_row


@each_row(
    ("written", "expected"),
    [
        (rb'"\ud800"', "\ufffd"),
        (rb'"\udc00x"', "\ufffdx"),
        (rb'"\uD83D\uDE00"', "😀"),
        (rb'"\ud83d\ud83d\ude00"', "\ufffd😀"),
        (rb'"\ud800\n"', "\ufffd\n"),
        (rb'"\ud800\u0041"', "\ufffdA"),
        (rb'"\\ud800"', r"\ud800"),
        (rb'"\\\ud800"', "\\\ufffd"),
        (rb'"\\\\ud800\""', r"\\ud800" + '"'),
        ('"Grüße \\ud800"'.encode(), "Grüße \ufffd"),
        (rb'"plain"', "plain"),
    ],
)
def test_halves_of_characters_are_replaced_wherever_the_text_is_cut(written, expected):
    for size in (1, 2, 5, 7, len(written)):
        replacer = SurrogateReplacer()
        pieces = [replacer.feed(written[at : at + size]) for at in range(0, len(written), size)]
        assert json.loads(b"".join(pieces) + replacer.end()) == expected
    assert decode_json(msgspec.json.decode, written) == expected


def test_what_is_cut_off_keeps_its_end():
    assert replace_surrogates(rb'"a\ud83') == rb'"a\ud83'
    assert replace_surrogates(rb'"a\ud83d\u') == rb'"a\ufffd\u'


def test_json_that_is_none_is_still_refused():
    with pytest.raises(msgspec.DecodeError):
        decode_json(msgspec.json.decode, rb'{"a": \ud800')
    with pytest.raises(msgspec.DecodeError):
        decode_json(msgspec.json.decode, b"{")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("Grüße 😀", "Grüße 😀"),
        ("a\ud800é", "a\ufffdé"),
        ("\ud83d\ude00", "😀"),
    ],
)
def test_any_text_can_be_encoded_afterwards(text, expected):
    assert well_formed(text) == expected
