"""T-06: a model that says that it cannot proceed, and calls tools all the same."""

from collections.abc import Mapping
from typing import Any

import pytest

from apps.agent.dead_ends import NOT_CALLED, DeadEnds
from apps.agent.events import Event, TextDelta
from apps.agent.loop import AgentLoop
from apps.agent.messages import Message, ToolCall
from apps.agent.progress import Progress
from tests.contract import proves
from tests.fakes import ScriptedModel, calling, saying, spec, text, tool

QUESTION = Message("user", "How warm is it in Riga?")
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
        model, "gpt", {"weather": tool("weather", call)}, external=external, dead_ends=DEAD_ENDS
    )
    events: list[Event] = []
    progress = Progress()

    reason = await loop.run([QUESTION], events.append, progress)

    assert (reason, made, len(model.asked)) == ("stop", [], 1)
    assert events == [TextDelta(GIVES_UP)]
    assert progress.added == [
        Message("assistant", GIVES_UP, tool_calls=tuple(ToolCall(*call) for call in CALLS)),
        Message("tool", NOT_CALLED.content, tool_call_id="1"),
        Message("tool", NOT_CALLED.content, tool_call_id="2"),
        Message("assistant", GIVES_UP),
    ]


@proves("T-06")
@pytest.mark.parametrize(
    ("said", "found"),
    [(GIVES_UP, True), ("So I CANNOT PROCEED here", True), ("I look it up.", False), ("", False)],
)
def test_t_06_a_phrase_is_found_anywhere_in_the_text_in_any_case(said, found):
    assert DEAD_ENDS.include(Message("assistant", said)) is found


@proves("T-06")
def test_t_06_a_phrase_that_takes_too_long_is_not_found(caplog):
    slow = DeadEnds((r"(a+)+b", r"(a|aa)+c"))

    found = slow.include(Message("assistant", "a" * 5000))

    assert found is False
    assert {record.levelname for record in caplog.records} == {"WARNING"}
