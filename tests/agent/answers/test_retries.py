import asyncio
import logging
from math import inf

import pytest

from apps.agent.answers.assembly import Assembly
from apps.agent.answers.replies import BACKOFF, RetryPolicy
from apps.agent.backoff import Backoff
from apps.agent.events import StateSaved, Usage
from apps.agent.messages import ModelMessage
from apps.agent.model import ModelRequest
from apps.errors import ModelFailed
from tests.contract import proves
from tests.fakes import ScriptedModel, call_delta, calls, saying, text

QUESTION = ModelRequest([ModelMessage("user", "Hello")])
EMPTY = text("")
BUSY = ModelFailed("busy", status=429, is_transient=True, retry_after=7.0)
CUT = ModelFailed("cut", reason="connection", is_transient=True)
REFUSED = ModelFailed("no", status=400)
SHORT = Backoff(3, 0.001, 0.001)


async def answer_of(
    model: ScriptedModel,
    pauses: list[float] | None = None,
    backoff: Backoff = SHORT,
    seconds: float = inf,
) -> str:
    async def wait(seconds: float) -> None:
        if pauses is not None:
            pauses.append(seconds)

    assembly = Assembly(lambda event: None)
    policy = RetryPolicy(backoff, wait, seconds)
    await policy.receive(model, QUESTION, assembly, "gpt")
    return assembly.reply("gpt").message.text


async def test_a_model_that_answers_is_asked_once():
    model = ScriptedModel(saying("Hello"))

    assert await answer_of(model) == "Hello"
    assert model.asked == [QUESTION]


@proves("T-57")
async def test_a_model_that_cannot_begin_is_asked_again_after_a_pause(caplog):
    pauses: list[float] = []
    model = ScriptedModel([BUSY], [EMPTY, CUT], saying("Hello"))

    with caplog.at_level(logging.WARNING):
        assert await answer_of(model, pauses) == "Hello"

    assert len(model.asked) == 3
    assert pauses[0] == 7.0
    assert pauses[1] <= 0.001
    assert [record.getMessage().partition(" pause")[0] for record in caplog.records] == [
        "Model call failed, retrying: deployment=gpt attempt=1 of 3 reason=status status=429",
        "Model call failed, retrying: deployment=gpt attempt=2 of 3 reason=connection status=None",
    ]


@proves("T-07")
async def test_after_three_attempts_the_last_failure_is_raised():
    last = ModelFailed("still busy", status=503, is_transient=True)
    model = ScriptedModel([BUSY], [BUSY], [last], saying("Hello"))

    with pytest.raises(ModelFailed) as caught:
        await answer_of(model)

    assert caught.value is last
    assert len(model.asked) == 3


@proves("T-57", "D-33")
@pytest.mark.parametrize("turn", range(20))
async def test_three_pauses_are_drawn_from_ranges_that_double_d_33(turn):
    pauses: list[float] = []
    model = ScriptedModel([CUT], [CUT], [CUT], saying("Hello"))

    assert await answer_of(model, pauses, BACKOFF) == "Hello"

    assert len(pauses) == 3
    assert all(0 <= pause <= 2**number for number, pause in enumerate(pauses))
    assert (BACKOFF.max_delay, BACKOFF.initial_delay) == (30.0, 1.0)


@proves("D-33")
async def test_the_service_says_how_long_a_pause_is_at_least_t_57():
    pauses: list[float] = []
    model = ScriptedModel([BUSY], [BUSY], [BUSY], saying("Hello"))

    await answer_of(model, pauses, BACKOFF)

    assert pauses == [7.0, 7.0, 7.0]


@proves("T-57", "D-33")
@pytest.mark.parametrize(
    "script",
    [
        [REFUSED],
        [text("Hel"), CUT],
        [Usage(1, 1), CUT],
        [StateSaved({"a": 1}), CUT],
        [calls(call_delta(0, "1", "weather")), CUT],
    ],
)
async def test_what_has_begun_or_would_fail_again_is_not_asked_again(script):
    model = ScriptedModel(script, saying("Hello"))

    with pytest.raises(ModelFailed):
        await answer_of(model)

    assert len(model.asked) == 1


@pytest.mark.parametrize("trouble", [CUT, BUSY, REFUSED, ValueError("nonsense")])
async def test_what_goes_wrong_after_the_finish_reason_takes_nothing_from_the_answer(trouble):
    model = ScriptedModel([*saying("Hello"), trouble])

    assert await answer_of(model) == "Hello"
    assert len(model.asked) == 1


async def test_a_pause_can_be_cancelled():
    waiting = asyncio.Event()

    async def wait(seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    model = ScriptedModel([BUSY], saying("Hello"))
    asking = RetryPolicy(wait=wait).receive(model, QUESTION, Assembly(lambda event: None), "gpt")
    task = asyncio.create_task(asking)
    async with asyncio.timeout(60):
        await waiting.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(model.asked) == 1


async def test_no_attempt_begins_after_the_time_for_all():
    pauses: list[float] = []
    model = ScriptedModel([BUSY], [BUSY], saying("Hello"))

    with pytest.raises(ModelFailed, match="busy") as failed:
        await answer_of(model, pauses, seconds=10.0)

    assert pauses == [7.0]
    assert failed.value.retry_after == 7.0
