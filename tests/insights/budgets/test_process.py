"""Reservations of a process before calls, and settlements after them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.utils import timezone

from apps.agent.events import Event, ModelUsage, NoticeAdded, Usage
from apps.agent.loop import AgentLoop
from apps.agent.loop_options import LoopTools
from apps.agent.messages import ModelMessage
from apps.agent.meter import ModelCallReport, Reservation
from apps.agent.model import Finish, ModelRequest
from apps.agent.progress import Progress
from apps.errors import BudgetReserved, BudgetSpent, ModelFailed
from apps.insights.budgets import process
from apps.insights.budgets.models import Budget, BudgetReservation, BudgetWindow
from apps.insights.budgets.process import ProcessBudgets
from apps.insights.budgets.reservations import release_all_lapsed
from apps.insights.meter import RunMeter
from apps.insights.models import Price
from apps.live.database import on_a_thread
from apps.workspace.embeddings.metered import MeteredEmbedder
from tests.catalog.rows import make_application, make_deployment
from tests.contract import proves
from tests.fakes import ScriptedModel, call_delta, saying, text, tool
from tests.insights.budgets.rows import make_budget, standings
from tests.workspace.embeddings.hashed import HashedEmbedder

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.postgres,
    pytest.mark.usefixtures("at_noon"),
]

RUN = UUID("7f0c8a52-0000-4000-8000-000000000001")
CONVERSATION = UUID("7f0c8a52-0000-4000-8000-000000000002")
QUESTION = ModelMessage("user", "x" * 40)
"""Ten tokens according to the estimate."""

make = sync_to_async(make_budget)
look = sync_to_async(standings)


@pytest.fixture
def budgets() -> ProcessBudgets:
    return ProcessBudgets(on_a_thread)


def meter_of(budgets: ProcessBudgets, **fields: Any) -> RunMeter:
    given = {"door": "gateway", "bucket": "user-7", "run": RUN, **fields}
    return RunMeter(lambda entry: None, budgets=budgets, **given).inside("travel", 1)


async def run(
    meter: RunMeter, *scripts: Sequence[object], tools: Sequence[str] = ()
) -> list[Event]:
    events: list[Event] = []
    found = {name: tool(name, lambda arguments: "done") for name in tools}
    loop = AgentLoop(ScriptedModel(*scripts), "gpt", LoopTools(found))
    await loop.run([QUESTION], events.append, Progress(meter=meter))
    return events


async def settled(budgets: ProcessBudgets) -> None:
    if budgets.settling is not None:
        await budgets.settling


def looking(spent: int) -> list[object]:
    """Return an answer that calls a tool."""
    call = call_delta(0, f"call-{uuid4().hex}", "look", "{}")
    return [call, Finish("tool_calls"), Usage(spent, 0)]


@proves("budgets")
async def test_a_call_is_reserved_before_it_is_made_and_settled_after_it(budgets):
    await make(amount=1000)
    seen = []

    class Looking(ScriptedModel):
        async def stream(self, request):
            seen.append(await look())
            async for batch in super().stream(request):
                yield batch

    loop = AgentLoop(Looking(saying("Yes.", prompt=12, completion=3)), "gpt", LoopTools())
    await loop.run([QUESTION], lambda event: None, Progress(meter=meter_of(budgets)))
    await settled(budgets)

    assert seen == [[("travel", 0, 10 + 256)]]
    assert await look() == [("travel", 15, 0)]
    assert await BudgetReservation.objects.acount() == 0


async def test_without_budgets_nothing_is_reserved(budgets):
    await run(meter_of(budgets), saying("Yes.", prompt=12, completion=3))

    assert (budgets.settling, budgets.renewing, await look()) == (None, None, [])


async def test_a_call_asks_the_database_twice_also_right_after_another_one():
    works: list[Any] = []

    async def noting(work: Any) -> Any:
        works.append(work)
        return await on_a_thread(work)

    budgets = ProcessBudgets(noting)
    await make(amount=10_000)
    meter = meter_of(budgets)

    for _ in range(3):
        held = await meter.admit("gpt", ModelRequest((QUESTION,)))
        spent = (ModelUsage("gpt", 10, 5),)
        meter.model_called(ModelCallReport("gpt", 0.1, spent, reservation=held))
    await settled(budgets)

    asked = [getattr(work, "func", work).__name__ for work in works]
    assert asked == ["read_rules", *["reserve", "settle"] * 3]


async def test_a_budget_of_somebody_else_is_not_looked_at(budgets):
    other = await sync_to_async(User.objects.create_user)("anna", pk=7_000)  # not the caller's
    await make("user", 0, user=other)

    await run(meter_of(budgets), saying("Yes.", prompt=12, completion=3))

    assert await look() == []


@proves("budgets")
async def test_a_run_ends_when_its_own_budget_does_and_keeps_what_was_answered(budgets):
    await make("run", 300)
    events: list[Event] = []
    loop = AgentLoop(
        ScriptedModel([text("Looking."), *looking(290)], looking(290), looking(290)),
        "gpt",
        LoopTools({"look": tool("look", lambda arguments: "done")}),
    )
    progress = Progress(meter=meter_of(budgets))

    with pytest.raises(BudgetSpent) as refused:
        await loop.run([QUESTION], events.append, progress)

    assert str(refused.value) == (
        "This answer’s budget is used up: 0 of 300 tokens left. Your next question gets a new budget."
    )
    assert refused.value.retry_after is None
    assert (progress.answer.text, progress.counts.iterations) == ("Looking.", 3)
    await run(meter_of(budgets, run=uuid4()), saying("Another run has its own."))


async def test_the_next_call_is_refused_before_the_last_one_is_settled_in_the_background(budgets):
    await make(amount=100)

    with pytest.raises(BudgetSpent):
        await run(meter_of(budgets), looking(100), saying("Never."), tools=["look"])

    assert await look() == [("travel", 100, 0)]


@proves("budgets")
async def test_what_is_reserved_counts(budgets):
    await make(amount=266)
    meter = meter_of(budgets)
    assert await meter.admit("gpt", ModelRequest([QUESTION])) is not None

    with pytest.raises(BudgetReserved) as refused:
        await meter.admit("gpt", ModelRequest([QUESTION]))

    assert (refused.value.code, refused.value.retry_after) == ("rate_limit_exceeded", 5.0)
    assert str(refused.value) == (
        "Answers in progress have reserved the rest of this app’s daily budget (266 of 266 tokens). "
        "Try again in a few seconds."
    )


@pytest.mark.django_db(transaction=True)
async def test_a_budget_that_was_just_saved_applies_at_once(budgets):
    meter = meter_of(budgets)
    await run(meter, saying("Yes.", prompt=10, completion=1))
    budget = await make(amount=0)

    with pytest.raises(BudgetSpent):
        await run(meter, saying("Never."))
    await sync_to_async(budget.delete)()

    await run(meter, saying("Yes.", prompt=10, completion=1))


@pytest.mark.django_db(transaction=True)
async def test_parallel_calls_after_a_save_all_wait_for_the_new_budget(budgets):
    meters = [meter_of(budgets, run=uuid4()) for _ in range(5)]
    await run(meters[0], saying("Yes.", prompt=10, completion=1))
    await make(amount=0)

    found = await asyncio.gather(
        *(run(one, saying("Never.")) for one in meters), return_exceptions=True
    )

    assert [type(one) for one in found] == [BudgetSpent] * 5


@pytest.mark.django_db(transaction=True)
async def test_a_call_goes_on_without_a_budget_that_was_deleted_meanwhile(budgets):
    await make(amount=100)
    await budgets.current_rules()
    await Budget.objects.all().adelete()

    assert await meter_of(budgets).admit("gpt", ModelRequest([QUESTION])) is None


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time.")
def test_the_database_deletes_what_is_reserved_while_its_budget_is_deleted():
    window = BudgetWindow.objects.create(budget=make_budget(), starts_at=timezone.now())
    BudgetReservation.objects.create(call=RUN, window=window, amount=1, expires_at=timezone.now())

    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {Budget._meta.db_table}")
    connection.check_constraints()

    assert (BudgetWindow.objects.count(), BudgetReservation.objects.count()) == (0, 0)


@proves("budgets")
async def test_of_several_budgets_all_or_none_is_reserved(budgets):
    await make("application", 1000)
    await make("user", 0)

    with pytest.raises(BudgetSpent, match="Your daily budget is used up"):
        await run(meter_of(budgets), saying("Never."))

    assert [row for row in await look() if row[1:] != (0, 0)] == []


@proves("budgets")
async def test_an_application_inside_of_another_counts_in_each_and_once_for_the_person(budgets):
    await make("application", 1000)
    await make("user", 1000)
    inner = meter_of(budgets).inside("inner", 1).inside("inner", 1)

    await run(inner, saying("Yes.", prompt=5, completion=1))
    await settled(budgets)

    assert sorted(await look()) == [("inner", 6, 0), ("travel", 6, 0), ("user-7", 6, 0)]


async def test_a_budget_of_ones_own_takes_the_place_of_the_general_one(budgets):
    person = await sync_to_async(User.objects.create_user)("anna")
    await make("user", 0)
    await make("user", 0, window="hour", user=person)
    await make("user", 1000, user=person)

    with pytest.raises(BudgetSpent, match="hourly"):
        await run(meter_of(budgets, bucket=f"user-{person.pk}"), saying("Never."))
    await Budget.objects.filter(window="hour").adelete()
    budgets.forget()
    await run(meter_of(budgets, bucket=f"user-{person.pk}"), saying("Yes.", prompt=1, completion=1))


async def test_a_budget_goes_on_when_its_application_is_renamed(budgets):
    application = await sync_to_async(make_application)("before")
    await make("application", 10, application=application)
    before = RunMeter(lambda entry: None, "gateway", "", RUN, budgets=budgets).inside("before", 1)
    await run(before, saying("Yes.", prompt=10, completion=1))
    application.slug = "after"
    await application.asave()
    budgets.forget()

    after = RunMeter(lambda entry: None, "gateway", "", RUN, budgets=budgets).inside("after", 2)
    with pytest.raises(BudgetSpent):
        await run(after, saying("Never."))


async def test_a_deleted_budget_counts_nothing_any_more(budgets):
    await make("application", 1)
    meter = meter_of(budgets)
    await run(meter, saying("Yes.", prompt=10, completion=1))
    await settled(budgets)
    await Budget.objects.all().adelete()
    budgets.forget()

    await run(meter, saying("Yes.", prompt=10, completion=1))


async def test_a_larger_amount_is_applied_in_the_middle_of_a_window(budgets):
    await make("application", 10)
    await run(meter_of(budgets), saying("Yes.", prompt=10, completion=0))
    await Budget.objects.aupdate(amount=Decimal(20))
    budgets.forget()

    await run(meter_of(budgets), saying("Yes.", prompt=4, completion=0))
    await settled(budgets)

    assert await look() == [("travel", 14, 0)]


@proves("budgets")
async def test_the_output_is_estimated_by_the_mean_of_the_last_calls(budgets):
    await make(amount=10_000)
    for output in (10, 30):
        await run(meter_of(budgets), saying("Yes.", prompt=12, completion=output))

    reservation = await meter_of(budgets).admit("gpt", ModelRequest([QUESTION]))

    assert isinstance(reservation, Reservation)
    assert await look() == [("travel", 12 + 10 + 12 + 30, 10 + 20)]


@proves("budgets")
async def test_a_conversation_is_told_of_the_soft_line_once_in_a_window(budgets):
    await make(amount=100_000, soft_amount=80_000, time_zone="Asia/Tokyo")
    meter = meter_of(budgets, conversation=CONVERSATION, time_zone="Europe/Berlin")
    await run(meter, saying("Yes.", prompt=82_000, completion=100))
    end = (await BudgetWindow.objects.aget()).ends_at
    assert end is not None

    told = [await run(meter, saying("Yes.", prompt=1, completion=1)) for _ in range(2)]
    other = await run(
        msgspec.structs.replace(meter, conversation=uuid4()), saying("Yes.", prompt=1, completion=1)
    )

    notices = [[one for one in events if isinstance(one, NoticeAdded)] for events in (*told, other)]
    assert [len(found) for found in notices] == [1, 0, 1]
    [[notice], _, _] = notices
    begin, _, renewal = notice.text.partition("The budget renews on ")
    assert begin == (
        "82% of this app’s daily budget has been used: 17,900 of 100,000 tokens left. "
    )
    assert renewal in {
        f"{end + timedelta(hours=off):%-d %b %Y at %H:%M} (Europe/Berlin)." for off in (1, 2)
    }
    assert told[0][0] == notice


async def test_money_is_counted_by_the_prices_of_the_deployment(budgets):
    row = await sync_to_async(make_deployment)("gpt")
    await Price.objects.acreate(
        deployment=row, valid_from="2020-01-01", input=Decimal(2), output=Decimal(8)
    )
    await make(amount=1, unit="money")

    await run(meter_of(budgets), saying("Yes.", prompt=100_000, completion=50_000))
    reservation = await meter_of(budgets).admit("gpt", ModelRequest([QUESTION]))

    assert reservation is not None
    assert await look() == [("travel", 600_000_000, 20_000 + 400_000_000)]


@proves("budgets")
@pytest.mark.parametrize("currency", [None, "EUR"])
async def test_a_call_without_a_price_counts_nothing_and_operators_are_told(
    budgets, currency, caplog
):
    row = await sync_to_async(make_deployment)("gpt")
    if currency:
        await Price.objects.acreate(
            deployment=row, valid_from="2020-01-01", input=Decimal(2), currency=currency
        )
    await make(amount=1, unit="money")

    await run(meter_of(budgets), saying("Yes.", prompt=100_000, completion=50_000))
    await settled(budgets)

    window = await BudgetWindow.objects.aget()
    assert (window.spent, window.reserved, window.unpriced) == (0, 0, 1)
    assert [one.getMessage() for one in caplog.records if "no price" in one.getMessage()] == [
        "Calls to gpt have no price in USD: cost budgets do not count them"
    ]


async def test_a_failed_call_gives_back_what_was_reserved(budgets):
    await make(amount=1000)

    with pytest.raises(ModelFailed):
        await run(meter_of(budgets), [ModelFailed("No.", status=400)])
    await settled(budgets)

    assert await look() == [("travel", 0, 0)]


async def test_an_answer_that_is_cut_off_counts_as_it_was_estimated(budgets):
    await make(amount=1000)
    model = ScriptedModel([text("Well"), ScriptedModel.never])
    loop = AgentLoop(model, "gpt", LoopTools())
    going = asyncio.ensure_future(
        loop.run([QUESTION], lambda event: None, Progress(meter=meter_of(budgets)))
    )
    await model.waiting.wait()

    going.cancel()
    await asyncio.wait([going])
    await settled(budgets)

    assert await look() == [("travel", 266, 0)]


@pytest.mark.parametrize("count", [-5, 10**30])
async def test_a_service_that_reports_nonsense_breaks_nothing(budgets, count):
    await make(amount=1000)
    meter = meter_of(budgets)
    reservation = await meter.admit("gpt", ModelRequest([QUESTION]))

    usage = (ModelUsage("gpt", count, count),)
    meter.model_called(ModelCallReport("gpt", 1.0, usage, reservation=reservation))
    await settled(budgets)

    assert await look() == [("travel", 0 if count < 0 else 10**15, 0)]


@proves("budgets")
async def test_vectors_are_reserved_and_counted_too(budgets):
    await make(amount=10)
    embedder = MeteredEmbedder(Counting("small"), "small", meter_of(budgets))

    await embedder.embed(["a"])
    with pytest.raises(BudgetSpent):
        await embedder.embed(["b"])


class Counting(HashedEmbedder):
    async def embed(self, texts: Any) -> Any:
        return replace(await super().embed(texts), prompt_tokens=10)


@proves("budgets")
async def test_what_a_dead_process_held_back_lapses(budgets, settings):
    await make(amount=300)
    await meter_of(budgets).admit("gpt", ModelRequest([QUESTION]))
    await meter_of(budgets).admit("gpt", ModelRequest([QUESTION]))
    assert budgets.renewing is not None
    budgets.renewing.cancel()
    alive = ProcessBudgets(on_a_thread)
    with pytest.raises(BudgetSpent):
        await meter_of(alive).admit("gpt", ModelRequest([QUESTION]))

    await BudgetReservation.objects.aupdate(expires_at=timezone.now())
    await meter_of(alive).admit("gpt", ModelRequest([QUESTION]))

    assert await look() == [("travel", 0, 266)]
    assert await BudgetReservation.objects.acount() == 1


async def test_a_call_that_lapsed_and_ends_after_all_is_counted_once(budgets):
    await make(amount=300)
    meter = meter_of(budgets)
    reservation = await meter.admit("gpt", ModelRequest([QUESTION]))
    await BudgetReservation.objects.aupdate(expires_at=timezone.now())
    await sync_to_async(release_all_lapsed)()

    usage = (ModelUsage("gpt", 7, 1),)
    meter.model_called(ModelCallReport("gpt", 1.0, usage, reservation=reservation))
    await settled(budgets)

    assert await look() == [("travel", 8, 0)]


async def test_a_long_call_holds_on_to_what_it_reserved(budgets, settings):
    settings.RUN_LEASE_SECONDS = 0.03
    await make(amount=300)
    await meter_of(budgets).admit("gpt", ModelRequest([QUESTION]))
    first = (await BudgetReservation.objects.aget()).expires_at

    async with asyncio.timeout(60):
        while (await BudgetReservation.objects.aget()).expires_at <= first:
            await asyncio.sleep(0.01)


async def test_a_call_right_after_the_last_one_is_held_on_to_as_well(budgets, settings):
    settings.RUN_LEASE_SECONDS = 0.03
    await make(amount=1000)
    meter = meter_of(budgets)
    first = await meter.admit("gpt", ModelRequest([QUESTION]))
    assert first is not None

    meter.model_called(ModelCallReport("gpt", 0.1, reservation=first))
    await meter.admit("gpt", ModelRequest([QUESTION]))
    [held] = [row async for row in BudgetReservation.objects.exclude(call=first.call)]

    async with asyncio.timeout(60):
        while (await BudgetReservation.objects.aget(pk=held.pk)).expires_at <= held.expires_at:
            await asyncio.sleep(0.01)


async def test_a_call_that_nobody_waits_for_any_more_gives_back_what_it_reserved(budgets):
    await make(amount=300)
    begun, free = asyncio.Event(), asyncio.Event()

    async def slow(work: Any) -> Any:
        found = await on_a_thread(work)
        if isinstance(found, tuple):
            begun.set()
            await free.wait()
        return found

    budgets.execute = slow
    admitting = asyncio.ensure_future(meter_of(budgets).admit("gpt", ModelRequest([QUESTION])))
    await begun.wait()

    admitting.cancel()
    await asyncio.wait([admitting])
    free.set()
    async with asyncio.timeout(60):
        while (await look()) != [("travel", 0, 0)]:
            await asyncio.sleep(0.01)


async def test_while_the_database_is_away_calls_wait_to_be_counted(budgets, monkeypatch):
    monkeypatch.setattr(process, "PAUSE_SECONDS", 0.01)
    await make(amount=300)
    meter = meter_of(budgets)
    reservation = await meter.admit("gpt", ModelRequest([QUESTION]))
    away = 2

    async def flaky(work: Any) -> Any:
        nonlocal away
        away -= 1
        if away >= 0:
            raise OperationalError
        return await on_a_thread(work)

    budgets.execute = flaky
    usage = (ModelUsage("gpt", 7, 1),)
    meter.model_called(ModelCallReport("gpt", 1.0, usage, reservation=reservation))
    await settled(budgets)

    assert await look() == [("travel", 8, 0)]


async def test_the_budgets_that_were_read_hold_while_the_database_is_away(budgets, monkeypatch):
    await run(meter_of(budgets), saying("Yes.", prompt=1, completion=1))
    monkeypatch.setattr(process, "RULES_SECONDS", 0.0)

    async def away(work: Any) -> Any:
        raise OperationalError

    budgets.execute = away

    await run(meter_of(budgets), saying("Yes.", prompt=1, completion=1))
