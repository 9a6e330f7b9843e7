"""Tools that ask a user, and runs that wait for the answer."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from apps.agent.events import Event, InteractionRequested, TextDelta, TurnRestarted
from apps.agent.ledger import (
    NO_LEDGER,
    WAITING,
    InteractionKind,
    InteractionRequest,
    Ledger,
    Step,
    UnstoredLedger,
    ledger_within,
)
from apps.agent.loop import AgentLoop
from apps.agent.loop_options import LoopTools
from apps.agent.messages import ModelMessage, Thoughts
from apps.agent.progress import Progress
from apps.agent.tools import Invocation, PendingResult, Tool, ToolResult
from apps.errors import Stopped
from tests.contract import proves
from tests.fakes import MemoryLedger, ScriptedModel, async_tool, calling, finish, saying, spec, tool

QUESTION = ModelMessage("user", "Pay the bill and say how warm it is.")
ASKED = InteractionRequest("", "approval", {"tool": "pay"}, 60)
CALLS = calling(("1", "pay", {}), ("2", "warm", {}), ("3", "pay", {}))


class Desk:
    """`pay` needs an approval for each call; `warm` does not. `called` has all calls made."""

    def __init__(self) -> None:
        self.called: Counter[str] = Counter()
        self.tools = {
            "pay": async_tool("pay", self.pay),
            "warm": Tool(spec("warm"), self.warm, is_repeatable=True),
        }

    async def pay(self, invocation: Invocation) -> ToolResult:
        self.called[invocation.id] += 1
        if "approval" not in invocation.answers:
            return PendingResult(interactions=(ASKED,))
        answer = invocation.answers["approval"].answer
        assert answer is not None
        return ToolResult(f"paid: {answer['outcome']}")

    async def warm(self, invocation: Invocation) -> ToolResult:
        self.called[invocation.id] += 1
        return ToolResult("12")

    async def run(
        self, model: ScriptedModel, ledger: Ledger, events: list[Event], is_resumed: bool = False
    ) -> tuple[str, Progress]:
        progress = Progress()
        loop = AgentLoop(model, "gpt", LoopTools(self.tools), ledger=ledger, is_resumed=is_resumed)
        return await loop.run([QUESTION], events.append, progress), progress


@proves("D-05")
async def test_a_call_that_asks_somebody_lets_the_others_end_and_then_the_run_waits():
    desk, ledger, events = Desk(), MemoryLedger(), list[Event]()

    reason, progress = await desk.run(ScriptedModel(CALLS), ledger, events)

    keys = ["t:1:0:1", "t:1:2:3"]
    assert reason == WAITING
    assert desk.called == {"1": 1, "2": 1, "3": 1}
    assert list(ledger.interactions.values()) == [
        InteractionRequest(key, "approval", {"tool": "pay"}, 60) for key in keys
    ]
    assert [ledger.steps[key] for key in keys] == [Step(key, "tool", "begun") for key in keys]
    assert ledger.steps["t:1:1:2"].status == "done"
    asked = [event for event in events if isinstance(event, InteractionRequested)]
    assert [event.interaction.key for event in asked] == keys
    assert all(0 < (event.due or 0) - time.time() <= 60 for event in asked)
    assert progress.conversation.added == []


async def test_a_run_goes_on_when_all_have_answered_and_makes_no_settled_call_again():
    desk, ledger, events = Desk(), MemoryLedger(), list[Event]()
    await desk.run(ScriptedModel(CALLS), ledger, events)

    ledger.answer("t:1:0:1", "approval", outcome="allow")
    between, _ = await desk.run(ScriptedModel(), ledger, events, is_resumed=True)
    called, still_asked = desk.called.copy(), ledger.asked.copy()
    ledger.answer("t:1:2:3", "approval", outcome="deny")
    model = ScriptedModel(saying("Paid one."))
    reason, progress = await desk.run(model, ledger, events, is_resumed=True)

    assert (between, reason) == (WAITING, "stop")
    assert still_asked == ["t:1:0:1", "t:1:2:3", "t:1:2:3"]
    assert called == {"1": 2, "2": 1, "3": 1}
    assert desk.called == {"1": 2, "2": 1, "3": 2}
    assert [(m.role, m.text) for m in progress.conversation.added] == [
        ("assistant", " "),
        ("tool", "paid: allow"),
        ("tool", "12"),
        ("tool", "paid: deny"),
        ("assistant", "Paid one."),
    ]
    assert [event for event in events if not isinstance(event, InteractionRequested)] == [
        TurnRestarted(),
        TurnRestarted(),
        TextDelta("Paid one."),
    ]


async def test_a_call_that_was_allowed_is_not_made_twice_when_its_end_is_not_known():
    desk, ledger = Desk(), MemoryLedger()
    await desk.run(ScriptedModel(CALLS), ledger, [])
    ledger.answer("t:1:0:1", "approval", outcome="allow")
    ledger.answer("t:1:2:3", "approval", outcome="allow")
    ledger.record(Step("t:1:0:1", "tool", "begun", "never"))

    _, progress = await desk.run(ScriptedModel(saying("I check.")), ledger, [], is_resumed=True)

    assert desk.called == {"1": 1, "2": 1, "3": 2}
    assert "may still have had its effect" in progress.conversation.added[1].text
    assert ledger.steps["t:1:0:1"].status == "unknown"


async def test_a_call_can_ask_for_a_second_thing_after_the_first():
    async def sign(invocation: Invocation) -> ToolResult:
        for kind in ("sign_in", "question"):
            if kind not in invocation.answers:
                return PendingResult(interactions=(InteractionRequest("", kind, {}, None),))
        return ToolResult("both")

    ledger, events = MemoryLedger(), list[Event]()
    tools = {"sign": async_tool("sign", sign)}

    async def go(*scripts: Sequence[object]) -> str:
        loop = AgentLoop(
            ScriptedModel(*scripts), "gpt", LoopTools(tools), ledger=ledger, is_resumed=True
        )
        return await loop.run([QUESTION], events.append, Progress())

    reasons = [await go(calling(("1", "sign", {})))]
    for kind in ("sign_in", "question"):
        ledger.answer("t:1:0:1", kind, outcome="done")
        reasons.append(await go(saying("Done.")))

    requests = [event for event in events if isinstance(event, InteractionRequested)]
    assert reasons == [WAITING, WAITING, "stop"]
    assert [(one.interaction.kind, one.due) for one in requests] == [
        ("sign_in", None),
        ("question", None),
    ]


async def test_a_run_that_nobody_keeps_tells_the_model_that_nobody_can_be_asked():
    desk, events = Desk(), list[Event]()
    model = ScriptedModel(CALLS, saying("Not paid."))

    reason, progress = await desk.run(model, NO_LEDGER, events)

    assert reason == "stop"
    assert [message.text for message in progress.conversation.added if message.role == "tool"] == [
        PendingResult().content,
        "12",
        PendingResult().content,
    ]
    assert events == [TextDelta("Not paid.")]


class NextMessage(UnstoredLedger):
    """A tool that asks within the answer and returns what the next message answers."""

    can_ask = frozenset[InteractionKind]({"approval"})

    def __init__(self, answered: InteractionRequest | None = None) -> None:
        self.answered = answered
        self.asked: list[InteractionRequest] = []

    def interaction(self, key: str, kind: InteractionKind) -> InteractionRequest | None:
        return self.answered if (key, kind) == ("t:0:0:1", "approval") else None

    def ask(self, interaction: InteractionRequest) -> None:
        self.asked.append(interaction)


@proves("R-11")
async def test_r_11_a_run_that_nobody_keeps_leaves_calls_to_the_next_which_asks_about_one_at_a_time():
    desk, first, events = Desk(), NextMessage(), list[Event]()
    thoughts = Thoughts({"reasoning_content": "Hm."}, "gpt")

    reason, progress = await desk.run(ScriptedModel(CALLS), first, events)
    waiting = progress.conversation.waiting
    assert waiting is not None
    answered = replace(first.asked[0], answer={"outcome": "allow"})
    second, again = NextMessage(answered), Progress()
    loop = AgentLoop(ScriptedModel(), "gpt", LoopTools(desk.tools), ledger=second)
    given = [QUESTION, *progress.conversation.added, replace(waiting, thoughts=thoughts)]
    reasons = [reason, await loop.run(given, events.append, again)]

    assert reasons == [WAITING, WAITING]
    assert [one.key for one in (*first.asked, *second.asked)] == ["t:1:0:1", "t:0:1:3"]
    assert [
        (m.role, m.text, [c.id for c in m.tool_calls]) for m in progress.conversation.added
    ] == [
        ("assistant", " ", ["2"]),
        ("tool", "12", []),
    ]
    assert [call.id for call in waiting.tool_calls] == ["1", "3"]
    assert [m.text for m in again.conversation.added] == ["paid: allow"]
    last = [call for call in waiting.tool_calls if call.id == "3"]
    assert again.conversation.waiting == replace(waiting, tool_calls=tuple(last), thoughts=thoughts)
    assert desk.called == {"1": 2, "2": 1, "3": 2}


async def test_a_call_that_ends_the_run_leaves_nobody_asked():
    def stop(arguments: object) -> str:
        raise Stopped

    desk, ledger = Desk(), MemoryLedger()
    desk.tools["warm"] = tool("warm", stop)

    with pytest.raises(Stopped):
        await desk.run(ScriptedModel(CALLS), ledger, [])

    assert ledger.interactions == {}


async def test_steps_and_questions_of_a_run_inside_of_a_call_have_the_key_of_the_call():
    root, desk, events = MemoryLedger(), Desk(), list[Event]()
    inner = ledger_within(ledger_within(root, "t:2:0:a"), "t:1:1:b")

    await desk.run(ScriptedModel(calling(("1", "pay", {}))), inner, events)

    key = "t:2:0:a/t:1:1:b/t:1:0:1"
    assert list(root.steps) == ["t:2:0:a/t:1:1:b/m:1", key]
    assert list(root.interactions) == [(key, "approval")]
    assert [e.interaction.key for e in events if isinstance(e, InteractionRequested)] == [key]
    assert inner.idempotency_key("t:1:0:1") == f"run/{key}"
    assert inner.step("t:1:0:1") == Step(key, "tool", "begun")
    assert ledger_within(NO_LEDGER, "t:2:0:a") is NO_LEDGER
    assert NO_LEDGER.idempotency_key("a") != NO_LEDGER.idempotency_key("a")


async def test_a_service_cannot_make_a_run_wait():
    model = ScriptedModel([TextDelta("Hi"), *finish(WAITING)])

    reason, progress = await Desk().run(model, MemoryLedger(), [])

    assert (reason, progress.answer.text) == ("stop", "Hi")


async def test_one_answer_is_enough_to_make_the_call_again_and_nothing_is_asked_twice():
    seen: list[list[str]] = []

    async def sign(invocation: Invocation) -> ToolResult:
        seen.append(sorted(invocation.answers))
        if len(invocation.answers) == 2:
            return ToolResult("both")
        kinds: tuple[InteractionKind, ...] = ("approval", "timer")
        return PendingResult(interactions=tuple(InteractionRequest("", kind, {}) for kind in kinds))

    ledger, events = MemoryLedger(), list[Event]()
    tools = {"sign": async_tool("sign", sign)}
    model = ScriptedModel(calling(("1", "sign", {})), saying("Done."))
    loop = AgentLoop(model, "gpt", LoopTools(tools), ledger=ledger, is_resumed=True)
    reasons = [await loop.run([QUESTION], events.append, Progress())]
    for kind in ("timer", "approval"):
        ledger.answer("t:1:0:1", kind, outcome="timeout")
        reasons.append(await loop.run([QUESTION], events.append, Progress()))

    assert reasons == [WAITING, WAITING, "stop"]
    assert seen == [[], ["timer"], ["approval", "timer"]]
    assert sum(isinstance(event, InteractionRequested) for event in events) == 2
