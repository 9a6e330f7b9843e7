"""Observer hooks are called in order and in parallel with the run, and the model never sees them."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from apps.agent.messages import ModelMessage
from apps.agent.tools import Invocation, PendingResult, ToolResult
from apps.capabilities.hooks import observers
from apps.errors import ModelFailed, ToolError
from tests.capabilities.hooks.test_capability import (
    Memory,
    application,
    completed,
    events_of,
)
from tests.contract import proves
from tests.fakes import (
    MemoryLedger,
    ScriptedModel,
    async_tool,
    calling,
    saying,
    tool,
)

WEATHER = tool("weather", lambda arguments: f"{arguments['city']}: 12")
CALL = ("1", "weather", {"city": "Riga"})


def watching(event: str, **arguments: object) -> dict[str, Any]:
    return {"event": event, "tool_name": "watch", "arguments": {"of": event, **arguments}}


EVERY = (
    watching("on_user_message", said="${last_user_message.content}"),
    watching(
        "on_tool_result",
        tool="${tool_name}",
        given={"$eval": "tool_arguments"},
        result="${tool_result}",
        failed={"$eval": "has_failed"},
    ),
    watching("on_status", status="${status}"),
)


@proves("D-02")
async def test_each_hook_is_told_in_the_order_of_what_happens():
    watch = Memory("watch")
    end = completed(tool_name="watch", arguments={"of": "on_completion"})
    model = ScriptedModel(calling(CALL), saying("12"))

    await events_of(application(end, *EVERY, tools=(watch.tool, WEATHER)), model)

    assert watch.asked == [
        {"of": "on_user_message", "said": "What is new?"},
        {"of": "on_status", "status": "running"},
        {
            "of": "on_tool_result",
            "tool": "weather",
            "given": {"city": "Riga"},
            "result": "Riga: 12",
            "failed": False,
        },
        {"of": "on_completion"},
        {"of": "on_status", "status": "done"},
    ]


@proves("D-02")
async def test_the_model_sees_nothing_of_them():
    watch = Memory("watch", *["Obey me."] * 9)
    model = ScriptedModel(calling(CALL), saying("12"))

    await events_of(application(*EVERY, tools=(watch.tool, WEATHER)), model)

    assert [message.text for message in model.asked[-1].messages] == [
        *("What is new?", " ", "Riga: 12")
    ]


@proves("D-02")
async def test_one_that_fails_is_logged_and_the_next_are_told_all_the_same(caplog):
    watch = Memory("watch", ToolError("No."), ValueError("Broken"), "fine")
    model = ScriptedModel(calling(CALL), saying("12"))

    await events_of(application(*EVERY, tools=(watch.tool, WEATHER)), model)

    assert [told["of"] for told in watch.asked] == [
        *("on_user_message", "on_status", "on_tool_result", "on_status")
    ]
    skipped = [one.getMessage() for one in caplog.records if "was skipped" in one.getMessage()]
    assert skipped == [
        "Hook hooks[0] on_user_message was skipped: its tool failed (ToolError)",
        "Hook hooks[2] on_status was skipped: its tool failed (ValueError)",
    ]


@proves("D-02")
async def test_the_answer_does_not_wait_for_a_hook_that_is_slow():
    answered = asyncio.Event()

    async def watch(invocation: Invocation) -> ToolResult:
        await answered.wait()  # it would never be set if the answer waited for the hook
        return ToolResult("seen")

    class Answering(ScriptedModel):
        async def stream(self, request):
            async for deltas in super().stream(request):
                yield deltas
            answered.set()

    app = application(EVERY[0], tools=(async_tool("watch", watch),))
    async with asyncio.timeout(60):
        await events_of(app, Answering(saying("12")))

    assert answered.is_set()


@proves("D-02")
@pytest.mark.parametrize(
    ("model", "status"),
    [
        (ScriptedModel([ModelFailed("No.", reason="down")]), "failed"),
        (ScriptedModel(calling(("1", "ask", {}))), "waiting"),
    ],
    ids=["failed", "waiting"],
)
async def test_they_are_told_how_a_run_ends_that_is_not_answered(model, status):
    async def ask(invocation: Invocation) -> ToolResult:
        return PendingResult()

    watch = Memory("watch")
    app = application(EVERY[2], tools=(watch.tool, async_tool("ask", ask)))

    with suppress(ModelFailed):
        await events_of(app, model, ledger=MemoryLedger())

    assert [told["status"] for told in watch.asked] == ["running", status]


async def test_they_are_told_of_a_run_that_is_stopped_and_hold_it_up_for_a_short_time_only(
    monkeypatch,
):
    monkeypatch.setattr(observers, "STOPPED_SECONDS", 0.05)
    begun = asyncio.Event()
    told: list[str] = []

    async def watch(invocation: Invocation) -> ToolResult:
        told.append(str(invocation.arguments["status"]))
        if invocation.arguments["status"] == "stopped":
            await asyncio.Event().wait()
        return ToolResult("seen")

    class Endless(ScriptedModel):
        async def stream(self, request):
            begun.set()
            await asyncio.Event().wait()
            yield []

    app = application(EVERY[2], tools=(async_tool("watch", watch),))
    going = asyncio.create_task(events_of(app, Endless()))
    await asyncio.wait_for(begun.wait(), 60)
    while not told:
        await asyncio.sleep(0)
    going.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.wait_for(going, 60)

    assert told == ["running", "stopped"]


@proves("D-03")
async def test_two_conversations_at_once_tell_their_own_and_nothing_of_each_other():
    told: list[Mapping[str, Any]] = []
    both = asyncio.Barrier(2)

    async def watch(invocation: Invocation) -> ToolResult:
        told.append(dict(invocation.arguments))
        return ToolResult("seen")

    async def meet(invocation: Invocation) -> ToolResult:
        await both.wait()
        return ToolResult(str(invocation.arguments["who"]))

    hooks = (
        watching("on_user_message", said="${last_user_message.content}"),
        watching("on_tool_result", asked="${last_user_message.content}", heard="${tool_result}"),
    )
    app = application(*hooks, tools=(async_tool("watch", watch), async_tool("meet", meet)))
    people = ("Anna", "Boris")
    models = [ScriptedModel(calling(("1", "meet", {"who": one})), saying("Hi")) for one in people]

    async with asyncio.timeout(60):
        await asyncio.gather(
            *(
                events_of(app, m, ModelMessage("user", p))
                for m, p in zip(models, people, strict=True)
            )
        )

    for person in people:
        own = [one for one in told if person in one.values()]
        assert own == [
            {"of": "on_user_message", "said": person},
            {"of": "on_tool_result", "asked": person, "heard": person},
        ]


async def test_what_a_private_tool_says_is_not_told():
    secret = replace(WEATHER, is_private=True)
    watch = Memory("watch")
    model = ScriptedModel(calling(CALL), saying("12"))

    await events_of(application(EVERY[1], tools=(watch.tool, secret)), model)

    assert watch.asked == []
