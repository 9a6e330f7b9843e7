"""Cards for questions of servers, and valid answers."""

from typing import Any

import mcp_types as types
import pytest

from apps.capabilities.mcp.sessions.elicitation_forms import NotAskable, card_of, content_problem
from tests.tables import each_row


def form(**properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return card_of("desk", types.ElicitRequestFormParams(message="?", requested_schema=schema))


def page(url: str) -> dict[str, Any]:
    return card_of("desk", types.ElicitRequestURLParams(message="?", url=url))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]},
        {"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]},
    ],
)
def test_choices_have_titles_in_either_way_of_the_protocol(schema):
    [field] = form(x=schema)["fields"]

    shown = [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]
    assert (field["type"], field["options"]) == ("choice", shown)


def test_choices_of_a_list_have_titles_too():
    items = {"anyOf": [{"const": "a", "title": "A"}]}
    [field] = form(x={"type": "array", "items": items, "minItems": 1})["fields"]

    shown = (field["type"], field["options"], field["least"])
    assert shown == ("choices", [{"value": "a", "label": "A"}], 1)


@each_row(
    "schema",
    [
        {"type": "object"},
        {"type": "array", "items": {"type": "string"}},
        {"type": "null"},
        {"type": "string", "enum": []},
        {"type": "string", "enum": [1]},
        {"type": "string", "enum": ["x"] * 201},
        {"type": "string", "enum": ["x" * 201]},
        {},
        7,
    ],
)
def test_what_no_field_can_be_made_of_is_refused(schema):
    with pytest.raises(NotAskable):
        form(x=schema)


def test_a_form_of_many_fields_is_refused():
    with pytest.raises(NotAskable):
        form(**{f"f{number}": {"type": "string"} for number in range(51)})


@each_row(
    ("schema", "value", "is_fit"),
    [
        ({"type": "string", "format": "email"}, "a@example.org", True),
        ({"type": "string", "format": "email"}, "a", False),
        ({"type": "string", "format": "uri"}, "https://example.org/", True),
        ({"type": "string", "format": "uri"}, "example", False),
        ({"type": "string", "format": "date"}, "2026-11-22", True),
        ({"type": "string", "format": "date"}, "22.11.", False),
        ({"type": "string", "format": "date-time"}, "2026-11-22T10:00:00Z", True),
        ({"type": "string", "format": "date-time"}, "now", False),
        ({"type": "string", "maxLength": 2}, "abc", False),
        ({"type": "string"}, "x" * 20_001, False),
        ({"type": "string"}, 1, False),
        ({"type": "integer"}, 2.0, True),
        ({"type": "integer"}, 2.5, False),
        ({"type": "number", "minimum": 1}, 0.5, False),
        ({"type": "number"}, "1", False),
        ({"type": "number"}, True, False),
        ({"type": "boolean"}, False, True),
        ({"type": "boolean"}, 0, False),
        ({"type": "array", "items": {"enum": ["a"]}}, ["a"], True),
        ({"type": "array", "items": {"enum": ["a"]}}, ["b"], False),
        ({"type": "array", "items": {"enum": ["a"]}}, [["a"]], False),
        ({"type": "array", "items": {"enum": ["a"]}, "minItems": 1}, [], False),
    ],
)
def test_values_are_held_against_their_fields(schema, value, is_fit):
    assert (content_problem(form(x=schema), {"x": value}) == "") is is_fit


def test_a_default_that_does_not_fit_is_left_out():
    fields = form(a={"type": "integer", "default": 3}, b={"type": "integer", "default": "x"})

    assert [field.get("default") for field in fields["fields"]] == [3, None]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://pay.example.org/x", "pay.example.org"),
        ("http://pay.example.org:8080/", "pay.example.org:8080"),
        ("https://p\u0430ypal.com/", "xn--pypal-4ve.com"),
    ],
)
def test_the_host_of_a_page_is_shown_as_it_is(url, host):
    assert page(url)["host"] == host


@each_row(
    "url",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://example.org@evil.example/",
        "https://",
        "https://[",
        "https://x.example/\u202e",
        "https://x.example/" + "a" * 2_000,
        "",
    ],
)
def test_what_is_no_page_is_refused(url):
    with pytest.raises(NotAskable):
        page(url)
