"""A model's reasoning is shown with its answer, stored for its next call, and sent only to that
model."""

import sys
from collections import Counter
from typing import Any

import msgspec
import pytest

from apps.agent.answers.assembly import Assembly
from apps.agent.answers.replies import RetryPolicy, ask_model, read_answer
from apps.agent.events import (
    Event,
    Reasoning,
    RefusalDelta,
    StageClosed,
    StageDelta,
    StageOpened,
    TextDelta,
)
from apps.agent.messages import (
    ModelMessage,
    Thoughts,
    ToolCall,
    own_thoughts,
    with_model_parts,
    without_thoughts,
)
from apps.agent.model import Delta, ModelRequest, Reply, StagePart, ThoughtPart
from apps.agent.progress import Allowance, RunAnswer
from apps.errors import ModelFailed
from apps.workspace.openai.events import CompletionEvents
from apps.workspace.services.event_stream import EventDecoder
from tests.contract import proves
from tests.fakes import (
    ScriptedModel,
    call_delta,
    calling,
    calls,
    finish,
    saying,
    text,
    thinks,
    timeless,
)

REQUEST = ModelRequest((ModelMessage("user", "Hello"),))
FIRST, SECOND = "m-thinking-1", "m-thinking-2"


async def said_of(*deltas: Delta | list[Delta], **options: Any) -> tuple[list[Event], Reply]:
    events: list[Event] = []
    options = {"stage_prefix": "m-", **options}
    reply = await ask_model(ScriptedModel(deltas), REQUEST, events.append, name="gpt", **options)
    return timeless(events), reply


@proves("5")
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
    assert reply == Reply(ModelMessage("assistant", "Four"), "stop", ())


async def test_thoughts_between_texts_are_a_stage_each():
    events, reply = await said_of(
        thinks("One."), text("a"), [thinks("Two."), text("b")], text("c"), finish()
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


async def test_the_end_of_a_thought_is_told_from_that_of_a_stage_of_the_model():
    events: list[Event] = []
    stage = StagePart(0, "Plan", failed=False)
    deltas = [stage, thinks("One."), *saying("a")]

    await ask_model(ScriptedModel(deltas), REQUEST, events.append, name="gpt", stage_prefix="m-")

    ends = [event for event in events if isinstance(event, StageClosed)]
    assert [(end.stage_id, end.is_thought) for end in ends] == [("m-0", False), (FIRST, True)]


@proves("5")
async def test_thoughts_end_when_the_model_calls_a_tool_and_fail_when_it_breaks_off():
    events, _ = await said_of(thinks("Look."), calls(call_delta(0, "1", "look", "{}")), finish())
    assert events[-1] == StageClosed(FIRST, 0.0)

    broken: list[Event] = []
    with pytest.raises(ModelFailed):
        await ask_model(
            ScriptedModel([thinks("Lo"), ModelFailed("gone")]),
            REQUEST,
            broken.append,
            name="gpt",
            stage_prefix="m-",
        )
    assert timeless(broken)[-1] == StageClosed(FIRST, 0.0, failed=True)


async def test_a_lead_stands_before_the_first_text_alone():
    events: list[Event] = []
    assembly = Assembly(events.append, answer=RunAnswer(["Before."]))

    await read_answer(ScriptedModel([text("a"), thinks("Hm."), text("b")]), REQUEST, assembly)

    assert events == [TextDelta("\n\n"), TextDelta("a"), TextDelta("b")]


async def test_thoughts_below_another_stage_are_a_step_like_the_others():
    events, reply = await said_of(
        thinks("Hm."), StagePart(0, "Look"), *saying("Four"), stage_parent="tool"
    )

    assert events == [
        StageOpened(FIRST, "Thinking", "tool"),
        StageDelta(FIRST, "Hm."),
        StageOpened("m-0", "Look", "tool"),
        StageClosed(FIRST, 0.0),
        TextDelta("Four"),
        StageClosed("m-0", 0.0),
    ]
    assert reply.message == ModelMessage("assistant", "Four")


async def test_thoughts_can_be_hidden():
    events, reply = await said_of(thinks("Hm."), *saying("Four"), stage_prefix=None)

    assert (events, reply.message.text) == ([TextDelta("Four")], "Four")


async def test_thoughts_take_room():
    events, reply = await said_of(thinks("abcdef"), thinks("ghijkl"), allowance=Allowance(10))

    assert events[1:3] == [Reasoning(FIRST, "abcdef"), Reasoning(FIRST, "ghij")]
    assert reply.finish_reason == "length"
    assert reply.message.text.startswith("[The answer was cut here")


async def test_a_model_that_thought_is_not_asked_again():
    model = ScriptedModel([thinks("Hm."), ModelFailed("gone", is_transient=True)], saying("Late"))

    with pytest.raises(ModelFailed):
        await RetryPolicy().receive(model, REQUEST, Assembly(lambda event: None), "gpt")

    assert len(model.asked) == 1


async def test_a_refusal_is_shown_as_one_and_is_the_text_of_the_message():
    events, reply = await said_of(RefusalDelta("I may "), RefusalDelta("not."), finish("stop"))

    assert events == [RefusalDelta("I may "), RefusalDelta("not.")]
    assert reply.message == ModelMessage("assistant", "I may not.")


# --- Kept, and given back ----------------------------------------------------------------------


@pytest.mark.parametrize("words", ["I look.", ""])
async def test_thoughts_are_kept_with_calls_of_tools_under_their_name_also_empty_ones(words):
    _, reply = await said_of(thinks(words, "reasoning"), *calling(("1", "look", {})))

    assert reply.message == ModelMessage(
        "assistant",
        tool_calls=(ToolCall("1", "look", "{}"),),
        thoughts=Thoughts({"reasoning": words}, "gpt"),
    )


async def test_the_parts_that_a_service_wants_back_are_kept_instead_of_what_was_shown():
    deltas = [thinks("Hm."), ThoughtPart("blocks", '["Hm."]'), *calling(("1", "look", {}))]

    events, reply = await said_of(*deltas)
    _, without_calls = await said_of(ThoughtPart("blocks", '["Hm."]'), *saying("Four"))

    assert reply.message.thoughts == Thoughts({"blocks": '["Hm."]'}, "gpt")
    assert Reasoning(FIRST, "Hm.") in events
    assert without_calls.message.thoughts == Thoughts({"blocks": '["Hm."]'}, "gpt")


async def test_nothing_is_kept_of_a_service_that_tells_no_thoughts():
    _, reply = await said_of(*calling(("1", "look", {})))

    assert reply.message.thoughts is None


def test_thoughts_go_back_to_no_other_deployment():
    """Services reject keys that are not theirs."""
    own = ModelMessage("assistant", "a", thoughts=Thoughts({"reasoning": "Hm."}, "gpt"))
    brought = ModelMessage("assistant", "b", thoughts=Thoughts({"reasoning": "Hm."}))

    both = [own, brought]
    assert own_thoughts("gpt", both) is both
    assert own_thoughts("another", [own, brought]) == [ModelMessage("assistant", "a"), brought]


@pytest.mark.parametrize(
    "written", ["text", ["list"], {}, {"deployment": "gpt"}, {"deployment": 5, "reasoning": "Hm."}]
)
def test_what_a_client_wrote_into_the_state_that_is_no_thought_is_dropped(written):
    message = ModelMessage("assistant", "a", state={"model_reasoning": written, "session": 1})

    assert with_model_parts(message) == ModelMessage("assistant", "a", state={"session": 1})


def test_a_thought_that_the_client_brings_beside_the_state_wins():
    brought = Thoughts({"reasoning_content": "New."})
    state = {"model_reasoning": {"reasoning": "Old."}}
    message = ModelMessage("assistant", "a", state=state, thoughts=brought)

    assert with_model_parts(message) == ModelMessage("assistant", "a", thoughts=brought)


@proves("4")
@pytest.mark.parametrize("status", [400, 422])
async def test_a_service_that_refuses_thoughts_is_asked_without_them(status):
    thoughts = Thoughts({"reasoning": "Hm."}, "gpt")
    answered = ModelMessage("assistant", "a", state={"session": 1}, thoughts=thoughts)
    messages = [*REQUEST.messages, answered]

    rewritten = await without_thoughts(ModelFailed("unsupported", status=status), messages)

    assert rewritten == [*REQUEST.messages, ModelMessage("assistant", "a", state={"session": 1})]
    assert await without_thoughts(ModelFailed("unsupported", status=status), rewritten) is None
    assert await without_thoughts(ModelFailed("no key", status=401), messages) is None


# --- What it costs -----------------------------------------------------------------------------


def test_a_token_without_a_thought_costs_no_call_and_no_event_more():
    """Many services send the keys with every token, as null."""
    nothing = {"refusal": None, "reasoning": None, "reasoning_content": None, "thinking": None}
    bare, with_nulls = called_for({}), called_for(nothing)

    assert bare == with_nulls
    assert (bare["feed"], bare["say"], bare["emit"], bare["decode"]) == (200, 100, 100, 100)
    assert bare["read_chunk"] == 1, "all others have the same form"
    assert not bare.keys() & {"feed_rare", "read_loosely", "read_thought", "think"}


def called_for(more: dict[str, Any]) -> Counter[str]:
    """Return how often each function is called for a hundred tokens."""
    chunk = {"choices": [{"index": 0, "delta": {"content": "a ", **more}, "finish_reason": None}]}
    data = b"data: " + msgspec.json.encode(chunk) + b"\n\n"
    events: list[Event] = []

    def emit(event: Event) -> None:
        events.append(event)

    assembly, decoder = Assembly(emit), EventDecoder(CompletionEvents())
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
