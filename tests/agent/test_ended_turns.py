"""Turns that end without another model call: a tool ends the turn, or the model gives up (T-06)."""

from collections.abc import Mapping
from typing import Any

import pytest

from apps.agent.answers.assembly import CALL_CHARACTERS
from apps.agent.ended_turns import NOT_CALLED, DeadEnds
from apps.agent.events import Event, TextDelta, TurnRestarted
from apps.agent.loop import AgentLoop
from apps.agent.loop_options import LoopLimits, LoopTools
from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.progress import Progress
from apps.agent.tools import Invocation, PendingResult, ToolResult
from apps.errors import ToolError
from tests.contract import proves
from tests.fakes import MemoryLedger, ScriptedModel, async_tool, calling, saying, spec, text, tool

QUESTION = ModelMessage("user", "Sum it up.")


def closing(answer: str):
    return tool("close", lambda arguments: ToolResult("Done.", ends_turn=True, answer=answer))


def loop_of(model: ScriptedModel, *tools, **options) -> AgentLoop:
    return AgentLoop(model, "gpt", LoopTools({tool.spec.name: tool for tool in tools}), **options)


@proves("D-05")
async def test_a_result_that_ends_the_turn_is_the_last_and_its_text_the_answer():
    model = ScriptedModel([text("One moment."), *calling(("a", "close", {}))])
    events: list[Event] = []
    progress = Progress()

    reason = await loop_of(model, closing("It is 12.")).run([QUESTION], events.append, progress)

    assert reason == "stop"
    assert len(model.asked) == 1
    assert events == [TextDelta("One moment."), TextDelta("\n\nIt is 12.")]
    assert progress.answer.text == "One moment.\n\nIt is 12."
    assert progress.conversation.added[1:] == [
        ModelMessage("tool", "Done.", tool_call_id="a"),
        ModelMessage("assistant", "It is 12."),
    ]


@proves("D-40")
async def test_the_other_calls_of_the_round_are_made_to_their_end():
    made: list[str] = []

    async def look(invocation: Invocation) -> ToolResult:
        made.append(invocation.id)
        return ToolResult("Seen")

    model = ScriptedModel(calling(("a", "close", {}), ("b", "look", {}), ("c", "close", {})))
    progress = Progress()

    await loop_of(model, closing("Yes."), async_tool("look", look)).run(
        [QUESTION], lambda event: None, progress
    )

    assert made == ["b"]
    assert [message.text for message in progress.conversation.added[1:]] == [
        *("Done.", "Seen", "Done."),
        "Yes.\n\nYes.",
    ]


async def test_a_result_that_ends_the_turn_without_a_text_leaves_an_answer_of_nothing():
    model = ScriptedModel(calling(("a", "close", {})))
    events: list[Event] = []
    progress = Progress()

    reason = await loop_of(model, closing("")).run([QUESTION], events.append, progress)

    assert (reason, events, progress.conversation.added[-1]) == (
        "stop",
        [],
        ModelMessage("assistant", " "),
    )


async def test_a_call_that_fails_does_not_end_the_turn():
    def refuse(arguments: object) -> ToolResult:
        raise ToolError("No.")

    model = ScriptedModel(calling(("a", "close", {})), saying("Then I say it myself."))
    progress = Progress()

    await loop_of(model, tool("close", refuse)).run([QUESTION], lambda event: None, progress)

    assert progress.answer.text == "Then I say it myself."


async def test_while_another_call_of_the_round_waits_for_a_person_the_turn_does_not_end():
    async def ask(invocation: Invocation) -> ToolResult:
        return ToolResult("Yes") if invocation.answers else PendingResult()

    ledger = MemoryLedger()
    model = ScriptedModel(calling(("a", "close", {}), ("b", "ask", {})))

    reason = await loop_of(model, closing("It is 12."), async_tool("ask", ask), ledger=ledger).run(
        [QUESTION], lambda event: None, Progress()
    )

    assert reason == "waiting"


async def test_a_run_that_is_taken_over_after_the_result_ends_with_the_same_answer():
    ledger = MemoryLedger()
    model = ScriptedModel(calling(("a", "close", {})))
    loop = loop_of(model, closing("It is 12."), ledger=ledger)
    await loop.run([QUESTION], lambda event: None, Progress())
    events: list[Event] = []
    progress = Progress()

    again = loop_of(ScriptedModel(), closing("Never."), ledger=ledger, is_resumed=True)
    reason = await again.run([QUESTION], events.append, progress)

    assert (reason, progress.answer.text) == ("stop", "It is 12.")
    assert events == [TurnRestarted("It is 12.")]


async def test_the_text_that_ends_the_answer_counts_as_what_models_say():
    model = ScriptedModel(calling(("a", "close", {})))
    progress = Progress()
    progress.answer.allowance.left = CALL_CHARACTERS + 12

    await loop_of(model, closing("It is twelve.")).run([QUESTION], lambda event: None, progress)

    assert len(progress.answer.text) < 12


DEAD_END_QUESTION = ModelMessage("user", "How warm is it in Riga?")
GIVES_UP = "I cannot proceed."
DEAD_ENDS = DeadEnds((r"\bcannot proceed\b",))
CALLS = (("1", "weather", '{"city": "Riga"}'), ("2", "ask_page", "{}"))


@proves("T-06")
async def test_t_06_the_calls_of_a_dead_end_are_not_made_and_have_a_result_each():
    made: list[str] = []

    def call(arguments: Mapping[str, Any]) -> str:
        made.append("weather")
        return "12"

    model = ScriptedModel([text(GIVES_UP), *calling(*CALLS)], saying("never asked"))
    external = {"ask_page": spec("ask_page")}
    loop = AgentLoop(
        model,
        "gpt",
        LoopTools({"weather": tool("weather", call)}, external=external),
        limits=LoopLimits(dead_ends=DEAD_ENDS),
    )
    events: list[Event] = []
    progress = Progress()

    reason = await loop.run([DEAD_END_QUESTION], events.append, progress)

    assert (reason, made, len(model.asked)) == ("stop", [], 1)
    assert events == [TextDelta(GIVES_UP)]
    assert progress.conversation.added == [
        ModelMessage("assistant", GIVES_UP, tool_calls=tuple(ToolCall(*call) for call in CALLS)),
        ModelMessage("tool", NOT_CALLED.content, tool_call_id="1"),
        ModelMessage("tool", NOT_CALLED.content, tool_call_id="2"),
        ModelMessage("assistant", GIVES_UP),
    ]


@proves("T-06")
@pytest.mark.parametrize(
    ("said", "found"),
    [(GIVES_UP, True), ("So I CANNOT PROCEED here", True), ("I look it up.", False), ("", False)],
)
def test_t_06_a_phrase_is_found_anywhere_in_the_text_in_any_case(said, found):
    assert DEAD_ENDS.include(ModelMessage("assistant", said)) is found


@proves("T-06")
def test_t_06_a_phrase_that_takes_too_long_is_not_found(caplog):
    slow = DeadEnds((r"(a+)+b", r"(a|aa)+c"))

    found = slow.include(ModelMessage("assistant", "a" * 5000))

    assert found is False
    assert {record.levelname for record in caplog.records} == {"WARNING"}
