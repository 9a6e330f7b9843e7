"""An interrupted run resumes from its last recorded step."""

from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress

import pytest

from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Event,
    ModelUsage,
    TextDelta,
    ToolCallsRequested,
    TurnRestarted,
    Usage,
)
from apps.agent.ledger import NO_LEDGER, Ledger, Step
from apps.agent.loop import AgentLoop
from apps.agent.loop_options import LoopLimits, LoopSteps, LoopTools
from apps.agent.messages import Attachment, ModelMessage, ToolCall
from apps.agent.model import Delta, ModelRequest
from apps.agent.progress import Progress
from apps.agent.steps.tool_steps import INTERRUPTED
from apps.agent.tools import Invocation, Tool, ToolResult, ToolSpec
from apps.errors import LeaseLost, ModelFailed, NotApproved, Stopped
from tests.fakes import (
    OBJECT,
    Crash,
    MemoryLedger,
    ScriptedModel,
    calling,
    saying,
    spec,
    text,
    tool,
)

QUESTION = ModelMessage("user", "How warm is it in Riga?")
PLAN = Attachment("text/plain", "Plan", url="files/plan.txt")
CHART = Attachment("image/png", "Chart", url="files/chart.png")
PHOTO = Attachment("image/png", "Photo", url="files/photo.png")
ROUNDS: tuple[Sequence[Delta], ...] = (
    [
        text("I look."),
        AttachmentAdded(PLAN),
        AnnotationAdded({"source": "plan"}),
        *calling(("a", "read", {"n": 1}), ("b", "pay", {"n": 2}), ("c", "read", {"n": 3})),
        Usage(10, 1),
    ],
    [
        text("Once more."),
        *calling(("d", "pay", {"n": 4}), ("e", "draw", {"n": 5}), ("f", "none", {"n": 6})),
        Usage(20, 2),
    ],
    [text("It is 12."), AnnotationAdded({"source": "end"}), *saying(""), Usage(30, 3)],
)


class SteadyModel:
    """Gives the same answer to a conversation, however often it is called."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        answered = sum(message.role == "assistant" for message in request.messages)
        self.asked.append(answered)
        yield ROUNDS[answered]


class Tools:
    """`read` and `draw` can be repeated, `pay` cannot; `called` has the calls made."""

    def __init__(self) -> None:
        self.called: Counter[str] = Counter()

    async def call(self, invocation: Invocation) -> ToolResult:
        self.called[invocation.id] += 1
        name = f"result {invocation.arguments['n']}"
        usage = (ModelUsage("helper", 1, 1),)
        if invocation.id == "e":
            source = ({"source": "1"},)
            return ToolResult(
                name,
                propagated=(CHART,),
                pictures=(PHOTO,),
                annotations=source,
                usage=usage,
                state={"k": [1]},
            )
        invocation.spend(usage)
        return ToolResult(name)

    def all(self) -> dict[str, Tool]:
        return {
            name: Tool(ToolSpec(name, name, OBJECT), self.call, is_repeatable=name != "pay")
            for name in ("read", "pay", "draw")
        }


async def answered(
    tools: Tools,
    model: SteadyModel,
    ledger: Ledger,
    events: list[Event],
    *,
    is_resumed: bool = False,
) -> Progress:
    progress = Progress()
    loop = AgentLoop(model, "gpt", LoopTools(tools.all()), ledger=ledger, is_resumed=is_resumed)
    assert await loop.run([QUESTION], events.append, progress) == "stop"
    return progress


def shown(events: Sequence[Event]) -> tuple[str, list[Attachment], list[object]]:
    """Return what a user sees at the end: text, attachments, annotations."""
    said, attachments, annotations = "", list[Attachment](), list[object]()
    for event in events:
        match event:
            case TextDelta(words):
                said += words
            case AttachmentAdded(attachment):
                attachments.append(attachment)
            case AnnotationAdded(annotation):
                annotations.append(annotation)
            case TurnRestarted(words, first, second):
                said, attachments, annotations = words, list(first), list(second)
            case _:
                pass
    return said, attachments, annotations


def comparable(progress: Progress) -> dict[str, object]:
    return {
        "usage": Counter(progress.usage),
        "iterations": progress.counts.iterations,
        "tool_calls": progress.counts.tool_calls,
        "text": progress.answer.text,
        "shown": progress.answer.shown,
        "left": (progress.answer.allowance.left, progress.answer.allowance.data),
    }


WHOLE = 15
"""The number of recorded steps: three answers, five starting calls, six results, one refusal."""


async def test_a_run_without_a_ledger_records_nothing_and_one_with_it_everything():
    ledger, plain, kept = MemoryLedger(), list[Event](), list[Event]()

    without = await answered(Tools(), SteadyModel(), NO_LEDGER, plain)
    with_one = await answered(Tools(), SteadyModel(), ledger, kept)

    assert kept == plain
    assert with_one.conversation.messages == without.conversation.messages
    assert comparable(with_one) == comparable(without)
    assert len(ledger.records) == WHOLE - 1
    assert list(ledger.steps) == [
        *["m:1", "t:1:0:a", "t:1:1:b", "t:1:2:c"],
        *["m:2", "t:2:0:d", "t:2:1:e", "t:2:2:f", "m:3"],
    ]


@pytest.mark.parametrize("room", range(WHOLE))
async def test_a_run_that_is_cut_off_anywhere_ends_as_if_it_had_not_been(room):
    whole, seen = Tools(), list[Event]()
    expected = await answered(whole, SteadyModel(), NO_LEDGER, seen)
    tools, model, ledger, events = Tools(), SteadyModel(), MemoryLedger(room), list[Event]()
    if room < WHOLE - 1:
        with pytest.raises(Crash):
            await answered(tools, model, ledger, events)
    else:
        await answered(tools, model, ledger, events)
    finished = {key for key, step in ledger.steps.items() if step.status == "done"}
    begun = {key for key, step in ledger.steps.items() if step.status == "begun"}
    before, asked = tools.called.copy(), len(model.asked)
    ledger.room = None

    progress = await answered(tools, model, ledger, events, is_resumed=True)

    interrupted = {key.split(":")[3] for key in begun if key.endswith((":b", ":d"))}
    replaced = [
        ModelMessage("tool", INTERRUPTED.content, tool_call_id=message.tool_call_id)
        if message.tool_call_id in interrupted
        else message
        for message in expected.conversation.messages
    ]
    assert list(progress.conversation.messages) == replaced
    again = {id for id, count in tools.called.items() if count > before[id]}
    done = {key.split(":")[3] for key in finished if key.startswith("t:")}
    assert not again & (done | interrupted)
    assert tools.called["b"] <= 1
    assert tools.called["d"] <= 1
    assert not {f"m:{number + 1}" for number in model.asked[asked:]} & finished
    assert shown(events) == shown(seen)
    if not interrupted:
        assert comparable(progress) == comparable(expected)
    assert sum(isinstance(event, TurnRestarted) for event in events) == 1


async def test_a_tool_that_must_not_be_repeated_is_called_once_it_is_durable_that_it_began():
    ledger = MemoryLedger()
    seen: list[list[str]] = []

    async def pay(invocation: Invocation) -> ToolResult:
        seen.append([step.key for step in ledger.records[: ledger.flushed[-1]]])
        return ToolResult("paid")

    model = ScriptedModel(calling(("1", "pay", {})), saying("Done"))
    loop = AgentLoop(model, "gpt", LoopTools({"pay": Tool(spec("pay"), pay)}), ledger=ledger)
    await loop.run([QUESTION], lambda event: None, Progress())

    assert seen == [["m:1", "t:1:0:1"]]
    assert ledger.records[1] == Step("t:1:0:1", "tool", "begun", "never")


async def test_nobody_waits_for_the_ledger_before_a_tool_that_may_be_repeated():
    ledger = MemoryLedger()

    async def read(invocation: Invocation) -> ToolResult:
        return ToolResult("12")

    model = ScriptedModel(calling(("1", "read", {})), saying("Done"))
    tools = {"read": Tool(spec("read"), read, is_repeatable=True)}
    await AgentLoop(model, "gpt", LoopTools(tools), ledger=ledger).run(
        [QUESTION], lambda event: None, Progress()
    )

    assert ledger.flushed == []


async def test_a_lost_lease_ends_the_run_and_not_only_the_call():
    class Lost(MemoryLedger):
        async def flush(self) -> None:
            raise LeaseLost

    model = ScriptedModel(calling(("b", "pay", {"n": 1}), ("a", "read", {"n": 1})))
    tools = Tools()

    with pytest.raises(LeaseLost):
        await AgentLoop(model, "gpt", LoopTools(tools.all()), ledger=Lost()).run(
            [QUESTION], lambda event: None, Progress()
        )

    assert "b" not in tools.called


async def test_after_a_recovery_the_rewritten_conversation_goes_on():
    async def rewrite(
        failure: ModelFailed, messages: Sequence[ModelMessage]
    ) -> Sequence[ModelMessage]:
        return [ModelMessage("user", "Shorter.")]

    refused = [AttachmentAdded(PLAN), text("Half an"), ModelFailed("too long", status=400)]
    ledger = MemoryLedger(room=1)
    first = ScriptedModel(refused, saying("Never recorded"))
    with pytest.raises(Crash):
        await AgentLoop(
            first, "gpt", LoopTools(), steps=LoopSteps(recoveries=(rewrite,)), ledger=ledger
        ).run([QUESTION], lambda event: None, Progress())
    ledger.room = None
    second, progress, events = ScriptedModel(saying("Yes.")), Progress(), list[Event]()

    loop = AgentLoop(
        second,
        "gpt",
        LoopTools(),
        steps=LoopSteps(recoveries=(rewrite,)),
        ledger=ledger,
        is_resumed=True,
    )
    await loop.run([QUESTION], events.append, progress)

    assert [list(request.messages) for request in second.asked] == [
        [ModelMessage("user", "Shorter.")]
    ]
    assert [message.text for message in progress.conversation.messages] == ["Shorter.", "Yes."]
    assert (progress.conversation.has_recovered, progress.answer.shown) == (True, {PLAN.url})
    assert events == [TurnRestarted("Half an"), TextDelta("\n\n"), TextDelta("Yes.")]


async def test_calls_of_the_client_are_handed_over_again():
    call = ToolCall("1", "theirs", "{}")
    ledger, events = MemoryLedger(), list[Event]()
    loop = AgentLoop(
        ScriptedModel(calling(("1", "theirs", {}))),
        "gpt",
        LoopTools(external={"theirs": spec("theirs")}),
        ledger=ledger,
        is_resumed=True,
    )
    await loop.run([QUESTION], events.append, Progress())

    reason = await loop.run([QUESTION], events.append, Progress())

    again = [TurnRestarted(), ToolCallsRequested((call,))]
    assert (reason, events) == ("tool_calls", again * 2)


async def test_calls_that_the_conversation_ends_with_are_steps_too():
    asked = ModelMessage("assistant", tool_calls=(ToolCall("b", "pay", '{"n": 1}'),))
    tools, ledger, progress = Tools(), MemoryLedger(), Progress()
    for is_resumed in (False, True):
        progress = Progress()
        loop = AgentLoop(
            ScriptedModel(saying("Done")),
            "gpt",
            LoopTools(tools.all()),
            ledger=ledger,
            is_resumed=is_resumed,
        )
        await loop.run([QUESTION, asked], lambda event: None, progress)

    assert tools.called == {"b": 1}
    assert list(ledger.steps) == ["t:0:0:b", "m:1"]
    assert progress.conversation.added == [
        ModelMessage("tool", "result 1", tool_call_id="b"),
        ModelMessage("assistant", "Done"),
    ]


async def test_a_tool_that_ended_the_run_ends_it_again():
    def stop(arguments: object) -> str:
        raise Stopped("Enough.")

    model = ScriptedModel([text("I look."), *calling(("1", "stop", {}))])
    ledger, events = MemoryLedger(), list[Event]()
    for is_resumed in (False, True):
        loop = AgentLoop(
            model,
            "gpt",
            LoopTools({"stop": tool("stop", stop)}),
            ledger=ledger,
            is_resumed=is_resumed,
        )
        with pytest.raises(Stopped, match=r"Enough\."):
            await loop.run([QUESTION], events.append, Progress())

    assert events == [TextDelta("I look."), TurnRestarted("I look.")]


@pytest.mark.parametrize("outcome", ["interrupted", "denied"])
async def test_calls_that_were_interrupted_or_denied_have_not_failed_when_a_run_goes_on(outcome):
    async def deny(invocation: Invocation) -> ToolResult:
        return ToolResult("No.", failure=NotApproved("No."))

    ledger, calls = MemoryLedger(), [calling((str(n), "pay", {})) for n in (1, 2)]
    first = AgentLoop(
        ScriptedModel(*calls), "gpt", LoopTools({"pay": Tool(spec("pay"), deny)}), ledger=ledger
    )
    with suppress(IndexError):
        await first.run([QUESTION], lambda event: None, Progress())
    if outcome == "interrupted":
        for key in ("t:1:0:1", "t:2:0:2"):
            ledger.steps[key] = Step(key, "tool", "begun", "never")
    progress = Progress()

    loop = AgentLoop(
        ScriptedModel(saying("Done")),
        "gpt",
        LoopTools(),
        limits=LoopLimits(failed_turns=2),
        ledger=ledger,
        is_resumed=True,
    )
    await loop.run([QUESTION], lambda event: None, progress)

    assert (progress.answer.text, progress.counts.failed_turns) == ("Done", 0)


@pytest.mark.parametrize("id", ["x" * 500, "a/b\x00c d", "", "functions.read:0"])
async def test_the_key_of_a_step_is_short_and_plain_whatever_the_model_calls_its_calls(id):
    ledger = MemoryLedger()
    model = ScriptedModel(calling((id, "none", {})), saying("Done"))

    await AgentLoop(model, "gpt", LoopTools(), ledger=ledger).run(
        [QUESTION], lambda event: None, Progress()
    )

    key = list(ledger.steps)[1]
    assert len(key) <= 70
    assert key.isprintable()
    assert "/" not in key
