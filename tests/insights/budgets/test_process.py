"""What a process reserves before calls and settles after them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async

from apps.agent.events import Event
from apps.agent.loop import AgentLoop
from apps.agent.messages import Message
from apps.agent.meter import Reservation
from apps.agent.model import ModelRequest
from apps.agent.progress import Progress
from apps.errors import BudgetSpent
from apps.insights.budgets.models import BudgetReservation
from apps.insights.budgets.process import ProcessBudgets
from apps.insights.meter import RunMeter
from apps.live.database import on_a_thread
from tests.fakes import ScriptedModel, calling, saying, tool
from tests.insights.budgets.rows import make_budget, standings

pytestmark = pytest.mark.django_db

RUN = UUID("7f0c8a52-0000-4000-8000-000000000001")
CONVERSATION = UUID("7f0c8a52-0000-4000-8000-000000000002")
QUESTION = Message("user", "x" * 40)
"""Ten tokens by the estimate."""

make = sync_to_async(make_budget)
look = sync_to_async(standings)


def meter_of(budgets: ProcessBudgets, **fields: object) -> RunMeter:
    given = {"door": "gateway", "bucket": "user-7", "run": RUN, **fields}
    return RunMeter(lambda entry: None, budgets=budgets, **given).inside("travel", 1)  # type: ignore[arg-type]


async def run(
    meter: RunMeter, *scripts: Sequence[object], tools: tuple[str, ...] = ()
) -> list[Event]:
    events: list[Event] = []
    found = {name: tool(name, lambda arguments: "done") for name in tools}
    loop = AgentLoop(ScriptedModel(*scripts), "gpt", found)
    await loop.run([QUESTION], events.append, Progress(meter=meter))
    return events


async def settled(budgets: ProcessBudgets) -> None:
    if budgets.settling is not None:
        await budgets.settling


async def test_a_call_is_reserved_before_it_is_made_and_settled_after_it():
    await make(amount=1000)
    budgets, seen = ProcessBudgets(on_a_thread), []

    class Looking(ScriptedModel):
        async def stream(self, request):
            seen.append(await look())
            async for batch in super().stream(request):
                yield batch

    loop = AgentLoop(Looking(saying("Yes.", prompt=12, completion=3)), "gpt", {})
    await loop.run([QUESTION], lambda event: None, Progress(meter=meter_of(budgets)))
    await settled(budgets)

    assert seen == [[("travel", 0, 10 + 256)]]
    assert await look() == [("travel", 15, 0)]
    assert await BudgetReservation.objects.acount() == 0


async def test_without_budgets_nothing_is_reserved():
    budgets = ProcessBudgets(on_a_thread)

    await run(meter_of(budgets), saying("Yes.", prompt=12, completion=3))

    assert (budgets.settling, budgets.renewing, await look()) == (None, None, [])


async def test_a_spent_budget_refuses_the_next_call_in_the_words_of_the_soft_line():
    await make(amount=100, soft_amount=80)
    budgets = ProcessBudgets(on_a_thread)
    spends = calling(("1", "look", {}))
    first = [*spends[:-1], *saying("", prompt=90, completion=5)[1:]]

    with pytest.raises(BudgetSpent) as refused:
        await run(meter_of(budgets), first, saying("Done.", prompt=10, completion=1), tools=())
        await run(meter_of(budgets), saying("Never."))

    assert "the daily budget of this application is used up".capitalize() in str(refused.value)


async def test_the_output_is_estimated_by_the_mean_of_the_last_calls():
    await make(amount=10_000)
    budgets = ProcessBudgets(on_a_thread)
    for output in (10, 30):
        await run(meter_of(budgets), saying("Yes.", prompt=12, completion=output))

    reservation = await meter_of(budgets).admit("gpt", ModelRequest([QUESTION]))

    assert isinstance(reservation, Reservation)
    assert await look() == [("travel", 12 + 10 + 12 + 30, 10 + 20)]
