"""Automatic retries of a tool call."""

import asyncio
import logging
from typing import Any

import pytest

from apps.agent.events import Event, StageDelta
from apps.agent.stages import Stage
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import PreparedTool
from apps.capabilities.wrappers.retries import with_retries
from apps.errors import FileRefused, InvalidParameter, ToolError, ToolTimedOut
from apps.manifest.toolsets.fallback_strategies import Fallback
from tests.capabilities.manifests import opening_for
from tests.capabilities.wrappers.calls import answering
from tests.contract import proves
from tests.tables import each_row

GO_ON = {"type": "continue"}
AGAIN: dict[str, Any] = {
    **GO_ON,
    "retry": {"attempts": 3, "initial_delay": 0.001, "max_delay": 0.001},
}
LATE = ToolTimedOut("look_up", 5)
MISSING = ToolError("404 Not Found")
MISSING.is_lasting = True
BUSY = ToolError("503 Service Unavailable")
BUSY.retry_after = 7.0
BROKEN_OFF = ToolError("It broke off.")
BROKEN_OFF.has_answered = True


def on(value: str) -> dict[str, Any]:
    return {"trigger_on": {"type": "contains", "value": value}}


class Calls:
    """Records one call that has these outcomes in turn, and repeats the last one."""

    def __init__(self, *outcomes: Exception | str) -> None:
        self.outcomes = outcomes
        self.count = 0
        self.pauses: list[float] = []
        self.events: list[Event] = []

    def work(self, invocation: Invocation) -> ToolResult:
        outcome = self.outcomes[min(self.count, len(self.outcomes) - 1)]
        self.count += 1
        if isinstance(outcome, Exception):
            raise outcome
        return ToolResult(outcome)

    async def wait(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def tool(self, *strategies: dict[str, Any], seconds: float = 60, **rest: Any) -> PreparedTool:
        fallback = Fallback.model_validate({"strategies": strategies})
        return with_retries(
            answering(self.work),
            fallback,
            seconds,
            **{"is_repeatable": True, "wait": self.wait, **rest},
        )

    async def run(self, *strategies: dict[str, Any], **rest: Any) -> ToolResult:
        invocation = Invocation("call-1", stage=Stage("call-1", self.events.append))
        return await self.tool(*strategies, **rest).work(opening_for(), invocation)


@proves("13.2")
async def test_a_failing_call_is_made_again_after_a_pause_and_its_stage_counts(caplog):
    calls = Calls(BUSY, ToolError("no"), "fine")

    with caplog.at_level(logging.WARNING):
        assert await calls.run(AGAIN) == ToolResult("fine")

    assert calls.pauses[0] == 7.0
    assert calls.pauses[1] <= 0.001
    assert calls.events == [
        StageDelta("call-1", "> Attempt 2 of 3\n\n"),
        StageDelta("call-1", "> Attempt 3 of 3\n\n"),
    ]
    assert [record.getMessage().partition(" pause")[0] for record in caplog.records] == [
        f"Tool call failed, retrying: name=look_up id='call-1' attempt={attempt} of 3 "
        "error=ToolError"
        for attempt in (1, 2)
    ]


async def test_the_last_attempt_fails_as_it_would_without_others():
    calls = Calls(ToolError("no"))

    with pytest.raises(ToolError, match=r"^no$"):
        await calls.run(AGAIN)

    assert calls.count == 3


@proves("13.2")
@each_row(
    ("error", "strategies", "count"),
    [
        (BUSY, [GO_ON], 1),
        (BUSY, [{**AGAIN, **on("503")}], 3),
        (BUSY, [{**AGAIN, **on("504")}], 1),
        (BUSY, [{**GO_ON, **on("503")}, AGAIN], 1),
        (BUSY, [{"type": "hard_stop", **on("503")}, AGAIN], 1),
        (BUSY, [{"type": "hard_stop", **on("504")}, AGAIN], 3),
        (LATE, [AGAIN], 1),
        (LATE, [{**AGAIN, **on("timed out")}], 3),
        (MISSING, [AGAIN], 1),
        (MISSING, [{**AGAIN, **on("404")}], 3),
        (BROKEN_OFF, [AGAIN], 1),
        (BROKEN_OFF, [{**AGAIN, **on("broke off")}], 1),
        (InvalidParameter("n", "expected a number."), [AGAIN], 1),
        (FileRefused("It is too large."), [AGAIN], 1),
        (KeyError("n"), [AGAIN], 1),
    ],
)
async def test_the_first_strategy_that_applies_decides(error, strategies, count):
    calls = Calls(error)

    with pytest.raises(type(error)):
        await calls.run(*strategies)

    assert calls.count == count


@proves("13.2")
@pytest.mark.parametrize(("any_method", "count"), [(False, 1), (True, 3)])
async def test_what_may_not_be_done_twice_is_called_again_only_if_the_manifest_says_so(
    any_method, count
):
    strategy = {**AGAIN, "retry": {**AGAIN["retry"], "any_method": any_method}}
    calls = Calls(BUSY)

    with pytest.raises(ToolError):
        await calls.run(strategy, is_repeatable=False)

    assert calls.count == count


@proves("13.2")
async def test_no_attempt_is_waited_for_that_would_begin_too_late():
    calls = Calls(BUSY)

    with pytest.raises(ToolError, match="503"):
        await calls.run(AGAIN, seconds=5)

    assert (calls.count, calls.pauses) == (1, [])


async def test_a_pause_can_be_cancelled():
    waiting = asyncio.Event()

    async def wait(seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    calls = Calls(BUSY, "fine")
    task = asyncio.create_task(calls.run(AGAIN, wait=wait))
    async with asyncio.timeout(60):
        await waiting.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert calls.count == 1


@proves("13.2", "D-23")
@pytest.mark.parametrize(
    "retry",
    [{"attempts": 0}, {"attempts": 6}, {"initial_delay": -1}, {"max_delay": 61}, {"attempts": "x"}],
)
def test_attempts_and_pauses_have_limits(retry):
    with pytest.raises(ValueError, match=r"strategies\.0\.continue\.retry"):
        Fallback.model_validate({"strategies": [{**GO_ON, "retry": retry}]})
