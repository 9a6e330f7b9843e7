from __future__ import annotations

import json

from apps.agent.events import TextDelta
from apps.agent.model import Delta, ToolCallDelta
from apps.workspace.text_tools.calls import CallReader
from tests.contract import proves
from tests.tables import each_row

WEATHER = '<tool_use name="weather">\n{"city": "Riga"}\n</tool_use>'
TIME = '<function_call name="time">{}</function_call>'
RIGA = ("weather", '{"city": "Riga"}')


def read(*pieces: str) -> list[Delta]:
    reader = CallReader()
    return [delta for piece in pieces for delta in reader.feed(piece)] + reader.end()


def told(deltas: list[Delta]) -> tuple[str, list[tuple[str, str]]]:
    """Return the text, and the name and the arguments of each call."""
    text, calls = "", list[tuple[str, str]]()
    for delta in deltas:
        if isinstance(delta, TextDelta):
            text += delta.text
        elif isinstance(delta, ToolCallDelta):
            name, arguments = calls.pop() if delta.index < len(calls) else ("", "")
            calls.append((name + delta.name, arguments + delta.arguments))
    return text, calls


ANSWERS = {
    "a call": (WEATHER, "", [RIGA]),
    "text before a call": (f"I look it up.\n\n{WEATHER}", "I look it up.", [RIGA]),
    "the other name of the tag": (TIME, "", [("time", "{}")]),
    "several calls": (
        f"<parallel_tool_calls>\n{WEATHER}\n{TIME}\n</parallel_tool_calls>",
        "",
        [RIGA, ("time", "{}")],
    ),
    "several calls without a wrapper": (f"{WEATHER}\n\n{TIME}", "", [RIGA, ("time", "{}")]),
    "no arguments": ('<tool_use name="time"></tool_use>', "", [("time", "{}")]),
    "a tag that closes itself": ('<tool_use name="time" />', "", [("time", "{}")]),
    "other attributes": ("<tool_use id=\"1\" name='time'>{}</tool_use>", "", [("time", "{}")]),
    "results that the model invents": (
        f"{WEATHER}\n<functions_result>12</functions_result>\nIt is 12. {TIME}",
        "",
        [RIGA],
    ),
    "text after a call": (f"{WEATHER}\nDone.", "", [RIGA]),
    "the closing tag within a text of the arguments": (
        '<tool_use name="write">{"text": "</tool_use><tool_use name=\\"x\\">\\\\"}</tool_use>',
        "",
        [("write", '{"text": "</tool_use><tool_use name=\\"x\\">\\\\"}')],
    ),
    "arguments that are no JSON": (
        '<tool_use name="time">city: < Riga</tool_use>',
        "",
        [("time", "city: < Riga")],
    ),
    "a call without an end": (
        '<tool_use name="time">{"a": 1}</tool',
        "",
        [("time", '{"a": 1}')],
    ),
    "code": (f"So:\n```xml\n{WEATHER}\n```\nDone.", f"So:\n```xml\n{WEATHER}\n```\nDone.", []),
    "code between longer fences": (
        f"````\n```\n{WEATHER}\n````\n{TIME}",
        f"````\n```\n{WEATHER}\n````",
        [("time", "{}")],
    ),
    "code in a list": (f"- so\n  ~~~\n{WEATHER}", f"- so\n  ~~~\n{WEATHER}", []),
    "code within a line": (f"```x``` `{WEATHER}", f"```x``` `{WEATHER}", []),
    "a call below code within a line": (f"```x```\n{TIME}", "```x```", [("time", "{}")]),
    "other tags": ("a < b <b>c</b> <tool_user> <", "a < b <b>c</b> <tool_user> <", []),
    "a tag without a name": ("<tool_use>{}</tool_use>", "<tool_use>{}</tool_use>", []),
    "a tag that never ends": ('<tool_use name="a', '<tool_use name="a', []),
    "one tag in another": ('<<tool_use name="time">{}</tool_use>', "<", [("time", "{}")]),
    "text alone": ("Hello, \n\n world \n", "Hello, \n\n world \n", []),
    "nothing": ("", "", []),
}


@proves("D-10")
@each_row(("answer", "text", "calls"), ANSWERS.values())
def test_calls_are_read_out_of_an_answer(answer, text, calls):
    assert told(read(answer)) == (text, calls)


@proves("R-04")
@each_row(("answer", "text", "calls"), ANSWERS.values())
def test_it_does_not_matter_where_an_answer_is_cut_into_pieces(answer, text, calls):
    for place in range(len(answer) + 1):
        assert told(read(answer[:place], answer[place:])) == (text, calls)
    assert told(read(*answer)) == (text, calls)


@proves("R-04")
def test_only_what_may_be_a_tag_is_held_back():
    reader = CallReader()

    shown = [told(reader.feed(piece))[0] for piece in ("a", " ", "b <", "to", "wn", "<tool_use ")]

    assert shown == ["a", "", " b", "", " <town", ""]


def test_a_tag_that_is_too_long_is_text():
    tag = f'<tool_use name="time" note="{"x" * 200}">'

    assert told(read(tag)) == (tag, [])


def test_blanks_without_an_end_are_text():
    assert told(CallReader().feed(" " * 500))[0] != ""
    assert told(read("a" + " " * 500 + TIME))[1] == [("time", "{}")]


def test_arguments_arrive_in_pieces_while_they_are_written():
    pieces = ('<tool_use name="write">{"te', 'xt": "Hel', 'lo"}</tool_use>')
    reader = CallReader()

    written = [
        [delta.arguments for delta in reader.feed(piece) if isinstance(delta, ToolCallDelta)]
        for piece in pieces
    ]

    assert written == [["", '{"te'], ['xt": "Hel'], ['lo"}']]


def test_every_call_has_an_id_of_its_own():
    begun = [one for one in read(WEATHER, TIME) if isinstance(one, ToolCallDelta) and one.id]

    assert [one.index for one in begun] == [0, 1]
    assert len({one.id for one in begun}) == 2


def test_a_long_answer_is_read_in_time_that_grows_with_its_length():
    text = json.dumps({"text": "<" * 20_000})

    assert told(read(f'<tool_use name="write">{text}</tool_use>')) == ("", [("write", text)])
    assert told(read("<" * 20_000)) == ("<" * 20_000, [])
