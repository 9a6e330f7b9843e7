from __future__ import annotations

import time

import pytest

from apps.agent.tools import ToolSpec
from apps.workspace.demo.arguments import Call
from apps.workspace.demo.plans import MOST_CALLS, Plan, make_plan
from tests.fakes import spec

WEATHER = spec("Weather_now", "The current weather in a city.", city={"type": "string"})
CLOCK = spec(
    "internal_timeawareness_current_timestamp",
    "Tells the current date and time.",
    timezone={"type": "string", "description": "IANA name of a zone.", "default": None},
)
ADD = spec("calc_add", "Adds two numbers.", a={"type": "number"}, b={"type": "number"})
SEARCH = spec(
    "web_search",
    "Searches the web for pages.",
    query={"type": "string"},
    lang={"type": "string", "enum": ["english", "german"], "default": "english"},
    limit={"type": "integer", "default": 5},
)
TOOLS = (WEATHER, CLOCK, ADD, SEARCH)


def weather(*cities: str) -> list[Call]:
    return [Call(WEATHER.name, {"city": city}) for city in cities]


def clock(*zones: str) -> list[Call]:
    return [Call(CLOCK.name, {"timezone": zone}) for zone in zones]


def calls_for(text: str, *tools: ToolSpec, choice: object = None) -> list[Call]:
    return list(make_plan(text, tools or TOOLS, choice).calls)


@pytest.mark.parametrize(
    ("question", "calls"),
    [
        (
            "weather in Oslo and Lima and what time is it in Tokyo",
            [*weather("Oslo", "Lima"), *clock("Asia/Tokyo")],
        ),
        (
            "What is the weather in Oslo and Lima, and what time is it in Tokyo?",
            [*weather("Oslo", "Lima"), *clock("Asia/Tokyo")],
        ),
        (
            "What is the weather and the time in Tokyo?",
            [*weather("Tokyo"), *clock("Asia/Tokyo")],
        ),
        ("In Oslo and Lima, what's the weather?", weather("Oslo", "Lima")),
        ("weather: são paulo, NEW YORK; riga!", weather("São Paulo", "New York", "Riga")),
        ("Weather in London and Gotham City? Thanks", weather("London", "Gotham City")),
        ("weather in gotham", weather("gotham")),
        ("Weather_now Oslo, please", weather("Oslo")),
        ("the weather in Oslo and the weather in Oslo", weather("Oslo")),
        ("what time is it", [Call(CLOCK.name, {})]),
        ("What time is it in Asia/Tokyo and in UTC?", clock("Asia/Tokyo", "UTC")),
        ("add 2 and 3.5", [Call(ADD.name, {"a": 2, "b": 3.5})]),
        ("Search for “cheap flights”", [Call(SEARCH.name, {"query": "cheap flights"})]),
        (
            "search 3 german pages on whales",
            [
                Call(
                    SEARCH.name,
                    {"query": "search 3 german pages on whales", "lang": "german", "limit": 3},
                )
            ],
        ),
    ],
)
def test_a_question_becomes_the_calls_that_it_asks_for(question, calls):
    assert make_plan(question, TOOLS) == Plan(tuple(calls))


@pytest.mark.parametrize(
    "question", ["", "hello", "Tell me about dogs.", "How are you today?", "\ue0000\ue001", "🌍"]
)
def test_a_question_that_points_to_no_tool_calls_none(question):
    assert make_plan(question, TOOLS) == Plan()


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("How is the weather?", "**Weather now** needs a value for *city*, and I found none."),
        ("What time is it in Atlantis?", "I do not know the time zone of 'Atlantis'."),
        ("add 2", "**Calc add** needs a value for *b*, and I found none."),
    ],
)
def test_what_is_missing_for_a_call_is_said(question, missing):
    assert make_plan(question, TOOLS) == Plan((), (missing,))


def test_a_call_that_cannot_be_made_does_not_keep_others_from_it():
    plan = make_plan("weather in Oslo and what time is it in Atlantis", TOOLS)

    assert plan == Plan(tuple(weather("Oslo")), ("I do not know the time zone of 'Atlantis'.",))


def test_there_is_a_most_of_calls():
    plan = make_plan("weather in " + ", ".join(f"Town{n} Ville" for n in range(20)), TOOLS)

    assert len(plan.calls) == MOST_CALLS
    assert plan.missing == (
        f"I make at most {MOST_CALLS} calls for one question and left out the rest.",
    )


@pytest.mark.parametrize(
    ("question", "earlier", "calls"),
    [
        ("And in Lima?", ["weather in Oslo"], weather("Lima")),
        ("what about Tokyo", ["Thanks", "what time is it in Oslo"], clock("Asia/Tokyo")),
        ("Gotham City", ["How is the weather?"], weather("Gotham City")),
        ("and in Riga?", ["weather and time in Oslo"], [*weather("Riga"), *clock("Europe/Riga")]),
        ("And in Lima?", ["What can you do?"], []),
        ("Who wrote Hamlet in London?", ["weather in Oslo"], []),
        ("And now?", ["weather in Oslo"], []),
        ("time in Lima", ["weather in Oslo"], clock("America/Lima")),
    ],
)
def test_a_question_may_go_on_from_an_earlier_one(question, earlier, calls):
    assert list(make_plan(question, TOOLS, None, earlier).calls) == calls


@pytest.mark.parametrize(
    ("choice", "calls"),
    [
        ("none", []),
        ("auto", weather("Oslo")),
        ("required", weather("Oslo")),
        ({"type": "function", "function": {"name": CLOCK.name}}, clock("Europe/Oslo")),
        ({"type": "function", "function": {"name": "unknown"}}, weather("Oslo")),
        ({"type": "function"}, weather("Oslo")),
    ],
)
def test_the_choice_of_a_tool_is_respected(choice, calls):
    assert calls_for("weather in Oslo", choice=choice) == calls


def test_a_tool_that_has_to_be_called_is_called():
    ping = spec("ping", "Answers.")

    assert calls_for("hello", ping, choice="required") == [Call("ping", {})]


PERSON = {
    "type": "object",
    "$defs": {"Person": {"type": "object", "properties": {"email": {"type": "string"}}}},
    "properties": {
        "to": {"type": "array", "items": {"type": "string", "format": "email"}},
        "when": {"type": "string", "format": "date"},
        "link": {"anyOf": [{"type": "null"}, {"type": "string", "format": "uri"}]},
        "sender": {
            "type": "object",
            "properties": {"subject": {"type": ["string", "null"]}},
            "required": ["subject"],
        },
        "urgent": {"type": "boolean"},
        "kind": {"const": "mail"},
        "folder": {"enum": ["inbox", "archive"]},
        "person": {"$ref": "#/$defs/Person"},
    },
    "required": ["to", "when", "sender", "urgent", "kind", "folder"],
}


def test_arguments_of_every_type_are_found_in_the_words():
    mail = ToolSpec("send_mail", "Sends mail.", PERSON)
    words = (
        'send mail "Hi there" to a@example.com, b@example.com on 2026-01-31, https://x.example/y'
    )

    assert calls_for(words, mail) == [
        Call(
            "send_mail",
            {
                "to": ["a@example.com", "b@example.com"],
                "when": "2026-01-31",
                "sender": {"subject": "Hi there"},
                "urgent": True,
                "kind": "mail",
                "folder": "inbox",
                "link": "https://x.example/y",
            },
        )
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": 3},
        {"properties": {"a": 3}, "required": "a"},
        {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"properties": {"a": {"$ref": "elsewhere.json"}}, "required": ["a"]},
        {"properties": {"a": {"anyOf": []}}, "required": ["a"]},
        {"properties": {"a": {"enum": []}}},
        {"properties": {"a": {"type": ["null"]}}},
        {"properties": {"a": {"type": 3, "items": 3}}},
        {"properties": {"a": {"type": "array", "items": True}}},
    ],
)
def test_a_schema_that_is_none_breaks_nothing(schema):
    odd = ToolSpec("odd", "Odd.", schema)

    assert [call.tool for call in calls_for('odd "x" 3 Oslo', odd)] == ["odd"]


def test_a_schema_that_holds_itself_is_not_filled_forever():
    node = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}

    plan = make_plan("odd", [ToolSpec("odd", "Odd.", node)])

    assert plan == Plan((), ("**Odd** needs a value for *next*, and I found none.",))


@pytest.mark.parametrize("unit", ["a ", "in A ", "'", '"a', "1.", "a@b.", "A/B ", "and ", "é, "])
def test_a_long_text_is_read_in_no_time(unit):
    started = time.monotonic()

    make_plan(f"weather {unit * 100_000}", TOOLS)

    assert time.monotonic() - started < 2
