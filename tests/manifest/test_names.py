import re

from hypothesis import given
from hypothesis import strategies as st

from apps.manifest.names import localize_text, possible_names, sanitize, visible_name, visible_names
from tests.contract import proves
from tests.tables import each_row


@proves("6.1", "R-23")
@each_row(
    ("name", "expected"),
    [
        ("plain_name", "plain_name"),
        ("with-dash", "with-dash"),
        ("a b.c/d", "a_b_c_d"),
        ("2nd", "_2nd"),
        ("-x", "_-x"),
        ("_x", "_x"),
        ("čau", "_au"),
        ("", "_"),
        ("a" * 64, "a" * 64),
    ],
)
def test_a_name_becomes_one_that_models_accept(name, expected):
    assert sanitize(name) == expected


@proves("6.1")
def test_names_that_are_too_long_stay_different():
    first, second = sanitize("a" * 64 + "b"), sanitize("a" * 64 + "c")

    assert first != second
    assert (len(first), len(second)) == (64, 64)
    assert first.startswith("a" * 55 + "_")
    assert first == sanitize("a" * 64 + "b")


@proves("6.1")
@given(st.text())
def test_any_text_gives_a_name(text):
    assert re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}", sanitize(text))


@proves("6.1")
def test_the_toolset_goes_in_front():
    assert visible_name("rest api", "get user") == "rest_api_get_user"
    assert visible_name({"lv": "Celtni", "en": "Crane desk"}, "book") == "Crane_desk_book"


@proves("10.4")
@each_row(
    ("text", "locale", "expected"),
    [
        (None, "en", ""),
        ("same", "lv", "same"),
        ({}, "en", ""),
        ({"en": "e", "lv": "l"}, "lv", "l"),
        ({"en": "e", "lv": "l"}, "lv-LV", "l"),
        ({"en": "e", "pt-BR": "b"}, "pt_br", "b"),
        ({"lv": "l", "en": "e"}, "de", "e"),
        ({"lv": "l", "fr": "f"}, "de", "l"),
    ],
)
def test_text_is_told_in_the_nearest_language(text, locale, expected):
    assert localize_text(text, locale) == expected


def test_names_that_would_become_the_same_get_a_hash():
    written = ["a.b", "a_b", "a b", "plain", "查询天气", "клиент"]

    names = visible_names("srv", written)

    assert len(set(names.values())) == len(written)
    assert (names["a_b"], names["plain"]) == ("srv_a_b", "srv_plain")
    for name in ("a.b", "a b", "查询天气", "клиент"):
        assert re.fullmatch("srv_[a_b]+_[0-9a-f]{8}", names[name])


def test_a_name_with_a_hash_does_not_change_with_the_other_tools():
    assert visible_names("srv", ["查询天气"]) == {
        name: shown
        for name, shown in visible_names("srv", ["查询天气", "查询股票"]).items()
        if name == "查询天气"
    }


def test_the_possible_names_of_a_tool_have_its_name_beside_any_other_tool():
    alone, beside = visible_names("srv", ["a.b"]), visible_names("srv", ["a.b", "a_b"])

    assert possible_names("srv", "a.b") == {alone["a.b"], beside["a.b"]}
