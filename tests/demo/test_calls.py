from __future__ import annotations

import time

import pytest

from apps.agent.tools import ToolSpec
from apps.demo.calls import MOST_CALLS, CallPlan, PlannedCall, plan_calls
from tests.fakes import spec
from tests.tables import each_row

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
READ = spec(
    "file_read_lines",
    "Reads lines of a file.",
    path={"type": "string"},
    first={"type": "integer"},
    last={"type": "integer", "default": 5},
)
TOOLS = (WEATHER, CLOCK, ADD, SEARCH, READ)


def weather(*cities: str) -> list[PlannedCall]:
    return [PlannedCall(WEATHER.name, {"city": city}) for city in cities]


def clock(*zones: str) -> list[PlannedCall]:
    return [PlannedCall(CLOCK.name, {"timezone": zone}) for zone in zones]


def calls_for(text: str, *tools: ToolSpec, choice: object = None) -> list[PlannedCall]:
    return list(plan_calls(text, tools or TOOLS, choice).calls)


@each_row(
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
        ("Weather_now Oslo, please", weather("Oslo")),
        ("the weather in Oslo and the weather in Oslo", weather("Oslo")),
        ("what time is it", [PlannedCall(CLOCK.name, {})]),
        ("What time is it in Asia/Tokyo and in UTC?", clock("Asia/Tokyo", "UTC")),
        ("add 2 and 3.5", [PlannedCall(ADD.name, {"a": 2, "b": 3.5})]),
        ("Search for “cheap flights”", [PlannedCall(SEARCH.name, {"query": "cheap flights"})]),
        (
            "search 3 pages on whales",
            [PlannedCall(SEARCH.name, {"query": "search 3 pages on whales", "limit": 3})],
        ),
        (
            "read lines 0 to 5 of notes.txt",
            [PlannedCall(READ.name, {"path": "notes.txt", "first": 0, "last": 5})],
        ),
        (
            'read line 3 of "a b.txt" and c.md',
            [PlannedCall(READ.name, {"path": path, "first": 3}) for path in ("a b.txt", "c.md")],
        ),
    ],
)
def test_a_question_becomes_the_calls_that_it_asks_for(question, calls):
    assert plan_calls(question, TOOLS) == CallPlan(calls)


@pytest.mark.parametrize(
    "question", ["", "hello", "Tell me about dogs.", "How are you today?", "\ue0000\ue001", "🌍"]
)
def test_a_question_that_points_to_no_tool_calls_none(question):
    assert plan_calls(question, TOOLS) == CallPlan()


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("How is the weather?", "**Weather now** needs a value for *city*, and I found none."),
        ("What time is it in Atlantis?", "I do not know the time zone of 'Atlantis'."),
        ("add 2", "**Calc add** needs a value for *b*, and I found none."),
    ],
)
def test_what_is_missing_for_a_call_is_said(question, missing):
    assert plan_calls(question, TOOLS) == CallPlan([], [missing])


def test_a_call_that_cannot_be_made_does_not_keep_others_from_it():
    plan = plan_calls("weather in Oslo and what time is it in Atlantis", TOOLS)

    assert plan == CallPlan(weather("Oslo"), ["I do not know the time zone of 'Atlantis'."])


def test_there_is_a_most_of_calls():
    plan = plan_calls("weather in " + " and in ".join(f"Town{n} Ville" for n in range(20)), TOOLS)

    assert len(plan.calls) == MOST_CALLS
    assert plan.missing == [f"I make up to {MOST_CALLS} calls for one question."]


@each_row(
    ("question", "earlier", "calls"),
    [
        ("And in Lima?", ["weather in Oslo"], weather("Lima")),
        ("what about Tokyo", ["Thanks", "what time is it in Oslo"], clock("Asia/Tokyo")),
        ("Lima?", ["How is the weather?"], weather("Lima")),
        ("and in Riga?", ["weather and time in Oslo"], [*weather("Riga"), *clock("Europe/Riga")]),
        ("And in Lima?", ["What can you do?"], []),
        ("Who wrote Hamlet in London?", ["weather in Oslo"], []),
        ("And now?", ["weather in Oslo"], []),
        ("Where is Oslo?", ["weather in Lima"], []),
        ("time in Lima", ["weather in Oslo"], clock("America/Lima")),
    ],
)
def test_a_question_may_go_on_from_an_earlier_one(question, earlier, calls):
    assert list(plan_calls(question, TOOLS, None, earlier).calls) == calls


@pytest.mark.parametrize(
    ("choice", "calls"),
    [
        ("none", []),
        ("auto", weather("Oslo")),
        ("required", weather("Oslo")),
        ({"type": "function", "function": {"name": CLOCK.name}}, clock("Europe/Oslo")),
        ({"type": "function", "function": {"name": "unknown"}}, weather("Oslo")),
    ],
)
def test_the_choice_of_a_tool_is_respected(choice, calls):
    assert calls_for("weather in Oslo", choice=choice) == calls


def test_a_tool_that_has_to_be_called_is_called():
    ping = spec("ping", "Answers.")

    assert calls_for("hello", ping, choice="required") == [PlannedCall("ping", {})]


def test_required_arguments_have_a_value_where_the_schema_names_one():
    mail = spec(
        "send_mail",
        "Sends mail.",
        subject={"type": "string"},
        link={"type": "string", "format": "uri"},
        folder={"type": "string", "enum": ["inbox", "archive"]},
    )

    assert calls_for('send mail "Hi there" with https://x.example/y', mail) == [
        PlannedCall(
            "send_mail", {"subject": "Hi there", "link": "https://x.example/y", "folder": "inbox"}
        )
    ]


@each_row(
    "schema",
    [
        {},
        {"properties": 3},
        {"properties": {"a": 3}, "required": "a"},
        {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"properties": {"a": {"enum": []}}},
        {"properties": {"a": {"type": ["null"]}}},
        {"properties": {"a": {"type": 3, "items": 3}}},
        {"properties": {"a": {"type": "array", "items": True}}},
    ],
)
def test_a_schema_that_is_none_breaks_nothing(schema):
    odd = ToolSpec("odd", "Odd.", schema)

    assert [call.tool for call in calls_for('odd "x" 3 Oslo', odd)] == ["odd"]


@pytest.mark.parametrize("schema", [{"$ref": "#"}, {"anyOf": []}, {"type": "object"}])
def test_an_argument_that_cannot_be_made_up_is_missing(schema):
    node = {"properties": {"next_one": schema}, "required": ["next_one"]}

    plan = plan_calls("odd", [ToolSpec("odd", "Odd.", node)])

    assert plan == CallPlan([], ["**Odd** needs a value for *next one*, and I found none."])


@each_row("unit", ["a ", "in A ", "'", '"a', "1.", "a@b.", "A/B ", "and ", "é, "])
def test_a_long_text_is_read_in_no_time(unit):
    started = time.monotonic()

    plan_calls(f"weather {unit * 100_000}"[:4_000], TOOLS)

    assert time.monotonic() - started < 20
