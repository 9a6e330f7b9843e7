"""Results of tools after which no model is asked again."""

from apps.agent.assembly import CALL_CHARACTERS
from apps.agent.events import Event, TextDelta, TurnRestarted
from apps.agent.loop import AgentLoop
from apps.agent.messages import Message
from apps.agent.progress import Progress
from apps.agent.tools import Invocation, Pending, ToolResult
from apps.errors import ToolError
from tests.contract import proves
from tests.fakes import MemoryLedger, ScriptedModel, async_tool, calling, saying, text, tool

QUESTION = Message("user", "Sum it up.")


def closing(answer: str):
    return tool("close", lambda arguments: ToolResult("Done.", ends_turn=True, answer=answer))


def loop_of(model: ScriptedModel, *tools, **options) -> AgentLoop:
    return AgentLoop(model, "gpt", {tool.spec.name: tool for tool in tools}, **options)


@proves("D-05")
async def test_a_result_that_ends_the_turn_is_the_last_and_its_text_the_answer():
    model = ScriptedModel([text("One moment."), *calling(("a", "close", {}))])
    events: list[Event] = []
    progress = Progress()

    reason = await loop_of(model, closing("It is 12.")).run([QUESTION], events.append, progress)

    assert reason == "stop"
    assert len(model.asked) == 1
    assert events == [TextDelta("One moment."), TextDelta("\n\nIt is 12.")]
    assert progress.text == "One moment.\n\nIt is 12."
    assert progress.added[1:] == [
        Message("tool", "Done.", tool_call_id="a"),
        Message("assistant", "It is 12."),
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
    assert [message.text for message in progress.added[1:]] == [
        *("Done.", "Seen", "Done."),
        "Yes.\n\nYes.",
    ]


async def test_a_result_that_ends_the_turn_without_a_text_leaves_an_answer_of_nothing():
    model = ScriptedModel(calling(("a", "close", {})))
    events: list[Event] = []
    progress = Progress()

    reason = await loop_of(model, closing("")).run([QUESTION], events.append, progress)

    assert (reason, events, progress.added[-1]) == ("stop", [], Message("assistant", " "))


async def test_a_call_that_fails_does_not_end_the_turn():
    def refuse(arguments: object) -> ToolResult:
        raise ToolError("No.")

    model = ScriptedModel(calling(("a", "close", {})), saying("Then I say it myself."))
    progress = Progress()

    await loop_of(model, tool("close", refuse)).run([QUESTION], lambda event: None, progress)

    assert progress.text == "Then I say it myself."


async def test_while_another_call_of_the_round_waits_for_a_person_the_turn_does_not_end():
    async def ask(invocation: Invocation) -> ToolResult:
        return ToolResult("Yes") if invocation.answers else Pending()

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

    assert (reason, progress.text) == ("stop", "It is 12.")
    assert events == [TurnRestarted("It is 12.")]


async def test_the_text_that_ends_the_answer_counts_as_what_models_say():
    model = ScriptedModel(calling(("a", "close", {})))
    progress = Progress()
    progress.allowance.left = CALL_CHARACTERS + 12

    await loop_of(model, closing("It is twelve.")).run([QUESTION], lambda event: None, progress)

    assert len(progress.text) < 12
