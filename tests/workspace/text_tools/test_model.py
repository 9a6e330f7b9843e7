from __future__ import annotations

import logging

import pytest

from apps.agent.events import TextDelta, Usage
from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.model import Finish, Model, ModelRequest, ReasoningDelta, ToolCallDelta
from apps.workspace.text_tools.model import TextToolModel
from tests.contract import proves
from tests.fakes import ScriptedModel, finish, saying, spec, text, thinks

CALL = '<tool_use name="time">{}</tool_use>'
TIME = spec("time")
QUESTION = ModelMessage("user", "Late?")


async def deltas_of(model: Model, **fields) -> list[object]:
    request = ModelRequest((QUESTION,), **{"tools": (TIME,), **fields})
    return [delta async for batch in model.stream(request) for delta in batch]


async def test_an_answer_with_a_call_ends_with_calls():
    model = ScriptedModel(
        [thinks("Hm"), text("Wait. "), text(CALL), *finish("stop", prompt=9, completion=3)]
    )

    deltas = await deltas_of(TextToolModel(model, "gpt"))

    begun = next(delta for delta in deltas if isinstance(delta, ToolCallDelta))
    assert deltas == [
        ReasoningDelta("Hm", "reasoning_content"),
        TextDelta("Wait."),
        ToolCallDelta(0, begun.id, "time"),
        ToolCallDelta(0, arguments="{}"),
        Finish("tool_calls"),
        Usage(9, 3),
    ]


async def test_what_was_held_back_comes_before_the_end():
    model = ScriptedModel([text("a <"), *finish("length")])

    assert await deltas_of(TextToolModel(model, "gpt")) == [
        TextDelta("a"),
        TextDelta(" <"),
        Finish("length"),
    ]


async def test_an_answer_that_is_cut_within_a_call_says_so():
    model = ScriptedModel([text('<tool_use name="time">{"a'), *finish("length")])

    assert (await deltas_of(TextToolModel(model, "gpt")))[-1] == Finish("length")


async def test_the_service_is_sent_no_tools():
    model = ScriptedModel(saying("Yes"))
    parameters = {"tool_choice": "auto", "parallel_tool_calls": False, "temperature": 0}

    await deltas_of(TextToolModel(model, "gpt"), parameters=parameters)

    (asked,) = model.asked
    assert (asked.tools, asked.parameters) == ((), {"temperature": 0})
    assert [message.role for message in asked.messages] == ["system", "user"]
    written = TextToolModel(model, "gpt").write(ModelRequest((QUESTION,), (TIME,), parameters))
    assert written == model.write(asked)


@pytest.mark.parametrize("fields", [{"tools": ()}, {"parameters": {"tool_choice": "none"}}])
async def test_where_nothing_may_be_called_nothing_is_read_as_a_call(fields):
    model = ScriptedModel(saying(CALL))

    assert await deltas_of(TextToolModel(model, "gpt"), **fields) == [
        TextDelta(CALL),
        Finish("stop"),
    ]
    assert model.asked[0].messages == [QUESTION]


@proves("T-51")
async def test_without_text_tools_a_request_has_none_and_the_log_says_so(caplog):
    called = ModelMessage("assistant", tool_calls=(ToolCall("1", "time", "{}"),))
    model = ScriptedModel(saying(CALL))

    with caplog.at_level(logging.WARNING):
        request = ModelRequest(
            (QUESTION, called, ModelMessage("tool", "9", tool_call_id="1")), (TIME,)
        )
        async for _ in TextToolModel(model, "gpt", has_tools=False).stream(request):
            pass

    (asked,) = model.asked
    assert asked.tools == ()
    assert [(message.role, message.tool_calls) for message in asked.messages] == [
        ("user", ()),
        ("assistant", ()),
        ("user", ()),
    ]
    assert caplog.messages == [
        "gpt was called without 'tools', because its service does not support it."
    ]
