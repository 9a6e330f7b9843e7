from __future__ import annotations

import json

import pytest

from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.tool_titles import tool_title
from apps.demo.results import (
    MOST_CHARACTERS,
    READ_SKILL,
    label,
    render,
    without_attachments,
)
from tests.tables import each_row

CALL = ToolCall("1", "weather", '{"city": "Oslo"}')


def rendered(content: str) -> str:
    """Return the content below the title of a call."""
    return render(CALL, ModelMessage("tool", content, tool_call_id="1")).partition("\n\n")[2]


def test_an_object_becomes_a_list():
    found = {
        "city": "Oslo",
        "wind_km_h": 3.5,
        "is_demo": True,
        "alarm": None,
        "days": ["Mon", "Tue"],
        "sun": {"rises_at": "06:00"},
        "none": [],
    }

    assert rendered(json.dumps(found)) == (
        "- **City:** Oslo\n"
        "- **Wind (km/h):** 3.5\n"
        "- **Is demo:** yes\n"
        "- **Alarm:** none\n"
        "- **Days:** Mon, Tue\n"
        "- **Sun:** rises_at: 06:00\n"
        "- **None:** none"
    )


def test_each_item_of_a_list_has_a_line():
    rows = [{"day": "Mon", "low": 1}, {"day": "a\nb", "low": None}]

    assert rendered(json.dumps(rows)) == "- day: Mon, low: 1\n- day: a b, low: none"


def test_text_is_quoted():
    assert rendered("# Title\n\ntext\n") == "> # Title\n>\n> text"


@pytest.mark.parametrize(
    ("content", "text"),
    [("3", "3"), ('"a  b"', "a b"), ("true", "yes"), ("[]", "none"), ("{}", "{}")],
)
def test_a_single_value_is_shown_as_it_is(content, text):
    assert rendered(content) == text


def test_the_title_tells_the_call():
    two = ToolCall("1", "list_flights", '{"from": "Oslo", "day": 3}')

    assert render(CALL, ModelMessage("tool", "3")) == "**Weather** (Oslo)\n\n3"
    assert render(two, ModelMessage("tool", "3")) == "**List flights** (from: Oslo, day: 3)\n\n3"
    assert (
        render(ToolCall("1", "list", '{"path": ""}'), ModelMessage("tool", "3")) == "**List**\n\n3"
    )
    assert render(ToolCall("1", "ping", "not JSON"), ModelMessage("tool", "3")) == "**Ping**\n\n3"
    assert render(CALL, ModelMessage("tool", " ")) == "**Weather** (Oslo) returned nothing."
    assert render(CALL, None) == "**Weather** (Oslo) brought no result."


@each_row(
    "content",
    [
        "Error: the tool failed unexpectedly.",
        "Parameter city is invalid: no.",
        "The tool call `weather` timed out after 3 seconds.",
        "The tool failed unexpectedly.",
        "The request failed with status 404.",
        "The service answered 503 Service Unavailable",
        "weather: the service timed out.",
        '{"error": "no such city"}',
    ],
)
def test_a_failure_is_called_one_and_its_text_is_shown(content):
    assert render(CALL, ModelMessage("tool", content)) == (
        f"**Weather** (Oslo) failed:\n\n> {content}"
    )


@pytest.mark.parametrize("content", ["Errors are human.", '{"error": null}', "No error occurred"])
def test_what_only_speaks_of_errors_is_no_failure(content):
    assert " failed:" not in render(CALL, ModelMessage("tool", content))


@pytest.mark.parametrize(
    "content",
    [
        "x" * 400_000,
        json.dumps([{"a": "y" * 1_000}] * 5_000),
        json.dumps({f"key {n}": n for n in range(5_000)}),
        "[" * 100_000,
        '{"a":' * 500 + "1" + "}" * 500,
        json.dumps([[[[[["deep"] * 100] * 10] * 3] * 3] * 3]),
    ],
)
def test_a_huge_result_is_shown_in_part(content):
    assert len(rendered(content)) < 20 * MOST_CHARACTERS


def test_what_tells_a_model_of_attachments_is_not_shown():
    told = '{"city": "Oslo"}\n<attachments>\n  <attachment>\n  </attachment>\n</attachments>'

    assert rendered(f"{told}\n[Timestamp: 2026-03-24 14:30:00 UTC]") == "- **City:** Oslo"
    assert without_attachments(f"{told}\n[The attachment 'A' cannot be shown: too large]") == (
        '{"city": "Oslo"}',
        1,
    )
    assert without_attachments("<attachments>") == ("<attachments>", 0)


def test_a_moment_and_memories_are_shown_without_what_only_a_model_needs():
    memories = (
        'Memories found:\n\n1. "I live in Paris" (id 17; category "home"; importance 0.9; score 1.00)\n'
        '2. "I (mostly) walk" (id 18; category "a"; importance 0.5; topics "b")'
    )

    assert rendered("2026-03-24T23:30:00+09:00 (Asia/Tokyo, source=argument)") == (
        "> Tuesday, March 24, 2026, 23:30 (Asia/Tokyo)"
    )
    assert rendered("2026-99-24T23:30:00+09:00 (UTC, source=default)") == (
        "> 2026-99-24T23:30:00+09:00 (UTC, source=default)"
    )
    assert rendered(memories) == (
        '> Memories found:\n>\n> 1. "I live in Paris"\n> 2. "I (mostly) walk"'
    )


def test_the_title_leaves_out_arguments_that_mean_nothing_to_the_reader():
    arguments = {"content": "I like tea.", "category": "preferences", "importance": 0.6}
    store = ToolCall("1", "store_memory", json.dumps(arguments))

    assert render(store, ModelMessage("tool", "3")) == "**Store memory** (I like tea.)\n\n3"


def test_a_skill_is_shown_line_by_line():
    call = ToolCall("1", READ_SKILL, '{"skill_name":"tone"}')

    assert render(call, ModelMessage("tool", "---\nname: tone\n---\n\nBe kind.\n")) == (
        "**Read skill** (tone)\n\n    ---\n    name: tone\n    ---\n\n    Be kind."
    )


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Weather_now", "Weather now"),
        ("internal_timeawareness_current_timestamp", "Current time"),
        ("internal_clock", "Internal clock"),
        ("internal_code_execution_python_interpreter", "Python interpreter"),
        ("internal_file_list", "List files"),
        ("internal_skills_read_skill", "Read skill"),
        ("getOrderStatus", "Get order status"),
        ("list-open.tickets", "List open tickets"),
        ("___", "___"),
        ("", ""),
    ],
)
def test_a_tool_is_named_in_words(name, title):
    assert tool_title(name) == title


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("wind_km_h", "Wind (km/h)"),
        ("temperature_celsius", "Temperature (°C)"),
        ("humidity_percent", "Humidity (%)"),
        ("percent", "Percent"),
        ("km_h", "Km h"),
        ("rises_at", "Rises at"),
        ("", ""),
    ],
)
def test_the_unit_at_the_end_of_a_name_stands_in_brackets(name, written):
    assert label(name) == written
