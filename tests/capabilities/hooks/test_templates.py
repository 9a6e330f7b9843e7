import asyncio
from typing import Any

import pytest

from apps.agent.messages import ModelMessage, ToolCall
from apps.capabilities.hooks.templates import (
    TemplateRefused,
    render,
    render_template,
    template_context,
)
from tests.contract import proves

CALL = ToolCall("1", "weather", '{"city": "Riga", "days": 2}')
MESSAGES = (
    ModelMessage("system", "You help."),
    ModelMessage("user", "How warm is it?"),
    ModelMessage("assistant", " ", tool_calls=(CALL,)),
    ModelMessage("tool", "12", tool_call_id="1"),
    ModelMessage("assistant", "12 degrees"),
    ModelMessage("user", ({"type": "text", "text": "And"}, {"type": "text", "text": "tomorrow?"})),
)
SEEN = template_context("on_completion", MESSAGES, iteration_count=2, total_tool_calls=1)


@proves("16.2")
def test_a_template_sees_the_conversation_as_plain_values():
    def told(role: str, content: str, **rest: Any) -> dict[str, Any]:
        return {"role": role, "content": content, "tool_calls": [], "tool_call_id": None, **rest}

    call = {"id": "1", "name": "weather", "arguments": {"city": "Riga", "days": 2}}
    question, answer = told("user", "And\ntomorrow?"), told("assistant", "12 degrees")
    assert {
        "event": "on_completion",
        "messages": [
            told("system", "You help."),
            told("user", "How warm is it?"),
            told("assistant", "", tool_calls=[call]),
            told("tool", "12", tool_call_id="1"),
            answer,
            question,
        ],
        "last_user_message": question,
        "last_assistant_message": answer,
        "iteration_count": 2,
        "total_tool_calls": 1,
    } == SEEN


def test_arguments_that_are_no_object_are_seen_as_an_empty_one():
    calls = [ToolCall("1", "a", "[1]"), ToolCall("2", "b", "{oops"), ToolCall("3", "c", "")]
    seen = template_context("on_completion", [ModelMessage("assistant", tool_calls=tuple(calls))])

    assert [call["arguments"] for call in seen["messages"][0]["tool_calls"]] == [{}, {}, {}]


@proves("16.2")
def test_there_may_be_no_last_message():
    seen = template_context("on_request_start", [])

    assert (seen["last_user_message"], seen["last_assistant_message"]) == (None, None)


@proves("16.2")
@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ({"q": "${last_user_message.content}!"}, {"q": "And\ntomorrow?!"}),
        ({"q": "in ${iteration_count} steps"}, {"q": "in 2 steps"}),
        ({"q": "<${messages[0].tool_call_id}>"}, {"q": "<>"}),
        ({"q": {"$eval": "iteration_count"}}, {"q": 2}),
        (
            {"q": {"$eval": "messages[2].tool_calls[0].arguments"}},
            {"q": {"city": "Riga", "days": 2}},
        ),
        ({"q": "$${literal}", "$$key": 1, "${event}": 2}, {"q": "${literal}", "$key": 1, "on_completion": 2}),
        ({"q": {"$if": "total_tool_calls > 0", "then": "used", "else": "none"}}, {"q": "used"}),
        ({"q": {"$if": "total_tool_calls > 5", "then": "used"}, "p": 1}, {"p": 1}),
        (
            {"q": {"$map": {"$eval": "messages[-2:]"}, "each(m)": {"$eval": "m.role"}}},
            {"q": ["assistant", "user"]},
        ),
        ({"q": {"$let": {"n": {"$eval": "iteration_count"}}, "in": "${n + 1}"}}, {"q": "3"}),
        (
            {"q": {"$find": {"$eval": "messages"}, "each(m)": "m.role == 'tool'"}},
            {"q": SEEN["messages"][3]},
        ),
        ({"q": {"$find": [1, 2, 3], "each(x, i)": "x > 9"}, "p": 1}, {"p": 1}),
        ({"$eval": "messages[2].tool_calls[0].arguments"}, {"city": "Riga", "days": 2}),
        ({"q": {"$eval": "join(range(0, 3), '-')"}}, {"q": "0-1-2"}),
    ],
    ids=str,
)  # fmt: skip
def test_templates_are_filled_in_as_json_e_says(template, expected):
    assert render(template, SEEN) == expected


@proves("16.2")
@pytest.mark.parametrize(
    "template",
    [
        {"q": "${messages}"},
        {"q": "${last_user_message}"},
        {"q": {"$eval": "messages[99].content"}},
        {"q": {"$eval": "nothing"}},
        {"q": {"$unknown": 1}},
        {"q": {"$map": "text", "each(m)": 1}},
        {"$eval": "messages"},
        {"q": {"$eval": "len"}},
    ],
    ids=str,
)
def test_what_cannot_be_evaluated_is_refused_without_a_word_of_the_conversation(template):
    with pytest.raises(TemplateRefused) as refused:
        render(template, SEEN)

    assert "the template" in str(refused.value)
    assert not any(word in str(refused.value) for word in ("Riga", "tomorrow", "warm"))


@proves("16.2")
def test_what_somebody_typed_is_never_read_as_a_template():
    typed = "${iteration_count} $${x}"
    seen = template_context(
        "on_completion", [ModelMessage("user", typed)], iteration_count=2, total_tool_calls=0
    )
    templates: list[dict[str, Any]] = [
        {"q": "${last_user_message.content}"},
        {"q": {"$eval": "messages[0].content"}},
        {"q": {"$map": {"$eval": "messages"}, "each(m)": "${m.content}"}},
        {"q": {"$find": {"$eval": "[messages[0].content]"}, "each(text)": "true"}},
        {"q": {"$reduce": {"$eval": "messages"}, "initial": "", "each(a, m)": "${a}${m.content}"}},
    ]

    found = [render(template, seen)["q"] for template in templates]

    assert found == [typed, typed, [typed], typed, typed]


@pytest.mark.parametrize(
    "template",
    [
        {"q": {"$eval": "99999999 ** 99999999"}},
        {"q": "${9 ** 9 ** 9 ** 9}"},
        {"q": {"$eval": "range(0, 99999999999)"}},
        {"q": {"$eval": "join(range(0, 90000), join(range(0, 90000), '-'))"}},
        {"q": {"$reduce": {"$eval": "range(0, 60)"}, "initial": "ab", "each(a, n)": {"$eval": "a + a"}}},
        {"q": {"$reduce": {"$eval": "range(0, 60)"}, "initial": 99, "each(a, n)": {"$eval": "a * a"}}},
        {"q": {"$reduce": {"$eval": "range(0, 60)"}, "initial": [1], "each(a, n)": [{"$eval": "a"}, {"$eval": "a"}]}},
        {"q": {"$reduce": {"$eval": "range(0, 60)"}, "initial": [1], "each(a, n)": {"$flatten": [{"$eval": "a"}, {"$eval": "a"}]}}},
    ],
    ids=str,
)  # fmt: skip
def test_a_template_cannot_ask_for_more_than_there_is(template):
    with pytest.raises(
        TemplateRefused,
        match=r"too large|operator \*\*, which is not supported|longer than 1 seconds",
    ):
        render(template, SEEN, seconds=1)


def nested(depth: int, times: int) -> Any:
    inner: Any = 1
    for level in range(depth):
        inner = {"$map": {"$eval": f"range(0, {times})"}, f"each(x{level})": inner}
    return {"q": inner}


def test_loops_in_loops_end_in_time():
    with pytest.raises(TemplateRefused, match=r"longer than 0\.2 seconds"):
        render(nested(5, 3000), SEEN, seconds=0.2)


async def test_others_go_on_while_a_template_is_filled_in():
    task = asyncio.create_task(render_template(nested(2, 150), SEEN))
    turns = 0
    while not task.done():
        await asyncio.sleep(0)
        turns += 1

    assert turns > 100
    assert await task == {"q": [[1] * 150] * 150}
