"""What a model thinks: shown beside its answer, kept for its next call, given back to it alone."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import msgspec
import pytest

from apps.agent.assembly import Assembly, Reply
from apps.agent.events import (
    Event,
    Reasoning,
    RefusalDelta,
    StageClosed,
    StageDelta,
    StageOpened,
    TextDelta,
)
from apps.agent.messages import Message, ToolCall
from apps.agent.model import Choice, Chunk, Delta, ModelRequest, StageDeltaPart
from apps.agent.replies import ask, receive
from apps.agent.retries import Persistence
from apps.agent.room import Room
from apps.agent.thoughts import forget, given_back
from apps.errors import ModelFailed
from apps.workspace.openai.events import EventDecoder
from tests.agent.test_replies import stages
from tests.fakes import ScriptedModel, call_delta, calling, calls, finish, saying, text, timeless

REQUEST = ModelRequest((Message("user", "Hello"),))
FIRST, SECOND = "m-thinking-1", "m-thinking-2"


def thinks(words: Any, name: str = "reasoning_content", **more: Any) -> Chunk:
    return Chunk([Choice(Delta(**{name: words}, **more))])


async def said_of(*chunks: Chunk, **options: Any) -> tuple[list[Event], Reply]:
    events: list[Event] = []
    options = {"stage_prefix": "m-", **options}
    reply = await ask(ScriptedModel(chunks), REQUEST, events.append, name="gpt", **options)
    return timeless(events), reply


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "thinking"])
async def test_thoughts_are_a_stage_of_their_own_and_no_part_of_the_answer(name):
    events, reply = await said_of(thinks("Let me ", name), thinks("see.", name), *saying("Four"))

    assert events == [
        StageOpened(FIRST, "Thinking", is_reasoning=True),
        Reasoning(FIRST, "Let me "),
        Reasoning(FIRST, "see."),
        StageClosed(FIRST, 0.0),
        TextDelta("Four"),
    ]
    assert reply == Reply(Message("assistant", "Four"), "stop", ())


async def test_a_thought_that_is_written_under_two_names_is_shown_once():
    """OpenRouter and vLLM do so, with lists of details beside it."""
    twice = thinks("Hm.", reasoning="Hm.")

    events, _ = await said_of(twice, *saying("Four"))

    assert events[1:3] == [Reasoning(FIRST, "Hm."), StageClosed(FIRST, 0.0)]


@pytest.mark.parametrize("odd", ["", 7, ["a list"], {"type": "text"}, False])
@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "thinking", "refusal"])
async def test_what_is_no_text_is_no_thought_and_breaks_nothing(name, odd):
    events, reply = await said_of(thinks(odd, name), *saying("Four"))

    assert (events, reply.message.text) == ([TextDelta("Four")], "Four")


async def test_thoughts_between_texts_are_a_stage_each():
    events, reply = await said_of(
        thinks("One."), text("a"), thinks("Two.", content="b"), text("c"), finish()
    )

    assert events == [
        StageOpened(FIRST, "Thinking", is_reasoning=True),
        Reasoning(FIRST, "One."),
        StageClosed(FIRST, 0.0),
        TextDelta("a"),
        StageOpened(SECOND, "Thinking", is_reasoning=True),
        Reasoning(SECOND, "Two."),
        StageClosed(SECOND, 0.0),
        TextDelta("b"),
        TextDelta("c"),
    ]
    assert reply.message.text == "abc"


async def test_thoughts_end_when_the_model_calls_a_tool_and_fail_when_it_breaks_off():
    events, _ = await said_of(thinks("Look."), calls(call_delta(0, "1", "look", "{}")), finish())
    assert events[-1] == StageClosed(FIRST, 0.0)

    broken: list[Event] = []
    with pytest.raises(ModelFailed):
        await ask(
            ScriptedModel([thinks("Lo"), ModelFailed("gone")]),
            REQUEST,
            broken.append,
            name="gpt",
            stage_prefix="m-",
        )
    assert timeless(broken)[-1] == StageClosed(FIRST, 0.0, failed=True)


async def test_a_lead_stands_before_the_first_text_alone():
    events: list[Event] = []
    assembly = Assembly(events.append, lead="\n\n")

    await receive(ScriptedModel([text("a"), thinks("Hm."), text("b")]), REQUEST, assembly)

    assert events == [TextDelta("\n\n"), TextDelta("a"), TextDelta("b")]


async def test_thoughts_below_another_stage_are_a_step_like_the_others():
    events, reply = await said_of(
        thinks("Hm."), stages(StageDeltaPart(0, name="Look")), *saying("Four"), stage_parent="tool"
    )

    assert events == [
        StageOpened(FIRST, "Thinking", "tool"),
        StageDelta(FIRST, "Hm."),
        StageOpened("m-0", "Look", "tool"),
        StageClosed(FIRST, 0.0),
        TextDelta("Four"),
        StageClosed("m-0", 0.0),
    ]
    assert reply.message == Message("assistant", "Four")


async def test_thoughts_can_be_hidden():
    events, reply = await said_of(thinks("Hm."), *saying("Four"), stage_prefix=None)

    assert (events, reply.message.text) == ([TextDelta("Four")], "Four")


async def test_thoughts_take_room():
    events, reply = await said_of(thinks("abcdef"), thinks("ghijkl"), room=Room(10))

    assert events[1:3] == [Reasoning(FIRST, "abcdef"), Reasoning(FIRST, "ghij")]
    assert reply.finish_reason == "length"
    assert reply.message.text.startswith("[The answer was cut here")


async def test_a_model_that_thought_is_not_asked_again():
    model = ScriptedModel([thinks("Hm."), ModelFailed("gone", is_transient=True)], saying("Late"))

    with pytest.raises(ModelFailed):
        await Persistence().receive(model, REQUEST, Assembly(lambda event: None), "gpt")

    assert len(model.asked) == 1


async def test_a_refusal_is_shown_as_one_and_is_the_text_of_the_message():
    events, reply = await said_of(
        thinks("I may ", "refusal"), thinks("not.", "refusal"), finish("stop")
    )

    assert events == [RefusalDelta("I may "), RefusalDelta("not.")]
    assert reply.message == Message("assistant", "I may not.")


# --- Kept, and given back ----------------------------------------------------------------------


@pytest.mark.parametrize("words", ["I look.", ""])
async def test_thoughts_are_kept_with_calls_of_tools_under_their_name_also_empty_ones(words):
    _, reply = await said_of(thinks(words, "reasoning"), *calling(("1", "look", {})))

    message = given_back(reply.message, "gpt")

    assert (message.reasoning, message.state) == ({"reasoning": words}, {})
    assert message.tool_calls == (ToolCall("1", "look", "{}"),)


async def test_nothing_is_kept_of_a_service_that_tells_no_thoughts():
    _, reply = await said_of(*calling(("1", "look", {})))

    assert (reply.message.state, given_back(reply.message, "gpt").reasoning) == ({}, {})


async def test_thoughts_go_back_to_no_other_deployment():
    """Services refuse keys that are not theirs."""
    _, reply = await said_of(thinks("I look."), *calling(("1", "look", {})))

    message = given_back(reply.message, "another")

    assert (message.reasoning, message.state) == ({}, {})


@pytest.mark.parametrize(
    "written", ["text", ["list"], {}, {"deployment": "gpt", "role": "system", "reasoning": 1}]
)
def test_what_a_client_wrote_into_the_state_reaches_the_model_only_as_a_thought(written):
    message = Message("assistant", "a", state={"model_reasoning": written, "session": 1})

    assert given_back(message, "gpt") == Message("assistant", "a", state={"session": 1})


@pytest.mark.parametrize("status", [400, 422])
async def test_a_service_that_refuses_thoughts_is_asked_without_them(status):
    state = {"model_reasoning": {"reasoning": "Hm."}, "session": 1}
    messages = [*REQUEST.messages, Message("assistant", "a", state=state)]

    rewritten = await forget(ModelFailed("unsupported", status=status), messages)

    assert rewritten == [*REQUEST.messages, Message("assistant", "a", state={"session": 1})]
    assert await forget(ModelFailed("unsupported", status=status), rewritten) is None
    assert await forget(ModelFailed("no key", status=401), messages) is None


# --- What it costs -----------------------------------------------------------------------------


def test_a_token_without_a_thought_costs_no_call_and_no_event_more():
    """Many services write the keys with every token, as null."""
    nothing = {"refusal": None, "reasoning": None, "reasoning_content": None, "thinking": None}
    bare, with_nulls = called_for({}), called_for(nothing)

    assert bare == with_nulls
    assert (bare["feed_delta"], bare["say"], bare["emit"], bare["read_event"]) == (100,) * 4
    assert not bare.keys() & {"feed_reasoning", "read_loosely", "thought_in", "think"}


def called_for(more: dict[str, Any]) -> Counter[str]:
    """How often each function was called for a hundred tokens."""
    chunk = {"choices": [{"index": 0, "delta": {"content": "a ", **more}, "finish_reason": None}]}
    data = b"data: " + msgspec.json.encode(chunk) + b"\n\n"
    events: list[Event] = []

    def emit(event: Event) -> None:
        events.append(event)

    assembly, decoder = Assembly(emit), EventDecoder()
    called: Counter[str] = Counter()

    def count(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            called[frame.f_code.co_name] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        for _ in range(100):
            for read in decoder.feed(data):
                assembly.feed(read)
    finally:
        sys.setprofile(before)
    assert events == [TextDelta("a ")] * 100
    return called
