"""The rows of a run's calls: their number, contents and omissions."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from apps.accounts.caller import Caller
from apps.agent.events import Event, ModelUsage, Usage
from apps.agent.messages import ModelMessage
from apps.agent.meter import ModelCallReport, ToolCallReport
from apps.agent.model import Finish, Model
from apps.agent.progress import Progress
from apps.catalog.resolve import resolve_application
from apps.errors import ModelFailed
from apps.insights import call_rows
from apps.insights.meter import CallEntry, RunMeter
from apps.insights.models import ModelCall, Price, ToolUse
from apps.insights.sums import costs_of_runs
from apps.live.database import on_a_thread
from apps.live.history.run_rows import RunFigures
from apps.live.history.summary_writer import RunSummaryWriter
from apps.live.run_summary import RunSummary
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from apps.workspace.local.models import Deployment
from tests.capabilities.deployment.scripts import simple, team
from tests.capabilities.manifests import PROMPT
from tests.catalog.rows import make_application, make_deployment, manifest_with
from tests.contract import proves
from tests.fakes import ModelsWorkspace, ScriptedModel, calling, saying, text

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

CALLER = Caller("user-1", "key")
RUN, CONVERSATION = UUID(int=1), UUID(int=2)
SECRET = "the-secret-of-the-question"
CLOCK = "internal_timeawareness_current_timestamp"
MODEL_COLUMNS = (
    *("run", "conversation", "application", "version", "door", "bucket", "bucket_kind"),
    *("iteration", "deployment", "provider", "model", "finish_reason", "error"),
    *("input_tokens", "cached_tokens", "created_tokens", "output_tokens", "reasoning_tokens"),
)


async def make(slug: str, model: str, *tools: Any, **fields: Any) -> None:
    manifest = manifest_with(
        orchestrator={"deployment": {"deployment_id": model}, "system_prompt": PROMPT},
        tool_sets=[team(*tools)] if tools else [],
        **fields,
    )
    await sync_to_async(make_application)(slug, manifest=manifest)


async def metered(slug: str, **models: Model) -> list[CallEntry]:
    """Return what the meter of a run receives."""
    entries: list[CallEntry] = []
    meter = RunMeter(entries.append, "page", CALLER.bucket, RUN, CONVERSATION)
    workspace, request = (
        ModelsWorkspace(CALLER, models),
        RunRequest((ModelMessage("user", SECRET),)),
    )
    events: list[Event] = []
    await run_application(
        await resolve_application(slug),
        request,
        workspace,
        CALLER,
        events.append,
        progress=Progress(meter=meter),
    )
    return entries


async def stored(slug: str, **models: Model) -> None:
    entries = await metered(slug, **models)
    await sync_to_async(call_rows.write)(entries)


async def model_calls(*columns: str) -> list[Any]:
    found = ModelCall.objects.order_by("pk").values_list(*columns, flat=len(columns) == 1)
    return [row async for row in found]


@proves("T-53", "T-60")
async def test_a_run_of_three_turns_leaves_three_rows_t_60():
    await make("clock", "big")
    usage = Usage(100, 20, cached=60, created=10, reasoning=5)
    big = ScriptedModel(
        calling(("1", CLOCK, {})),
        calling(("2", CLOCK, {"timezone": SECRET})),
        [text("It is "), text("noon."), Finish("stop"), usage],
    )

    await stored("clock", big=big)

    common = (RUN, CONVERSATION, "clock", 1, "page", "user-1", "user")
    unknown = (None,) * 5
    assert await model_calls(*MODEL_COLUMNS) == [
        (*common, 1, "big", "dial", "big", "tool_calls", "", *unknown),
        (*common, 2, "big", "dial", "big", "tool_calls", "", *unknown),
        (*common, 3, "big", "dial", "big", "stop", "", 100, 60, 10, 20, 5),
    ]
    times = await model_calls("started_at", "seconds", "first_text_seconds")
    assert [first is not None for _, _, first in times] == [False, False, True]
    assert all(0 <= seconds < 60 for _, seconds, _ in times)
    assert 0 <= times[2][2] <= times[2][1]
    assert all(timezone.now() - started < timedelta(minutes=1) for started, _, _ in times)
    uses = ToolUse.objects.order_by("pk")
    assert [
        row
        async for row in uses.values_list(
            "run", "application", "iteration", "tool", "location", "has_failed"
        )
    ] == [
        (RUN, "clock", 1, CLOCK, "server", False),
        (RUN, "clock", 2, CLOCK, "server", True),
    ]


@proves("T-60")
async def test_no_row_has_a_word_of_what_was_said_t_60():
    await make("clock", "big")
    failed = ModelFailed(f"It said: {SECRET}", status=500, code=SECRET, kind=SECRET)
    big = ScriptedModel(
        calling(("1", CLOCK, {"timezone": SECRET})), calling(("2", SECRET, {})), [failed]
    )

    entries: list[CallEntry] = []
    meter = RunMeter(entries.append, "page", "user-1")
    request = RunRequest((ModelMessage("user", SECRET),))
    with pytest.raises(ModelFailed):
        await run_application(
            await resolve_application("clock"),
            request,
            ModelsWorkspace(CALLER, {"big": big}),
            CALLER,
            lambda event: None,
            progress=Progress(meter=meter),
        )
    await sync_to_async(call_rows.write)(entries)

    calls = [row async for row in ModelCall.objects.order_by("pk").values()]
    uses = [row async for row in ToolUse.objects.values()]
    assert SECRET not in repr((calls, uses))
    assert [row["error"] for row in calls] == ["", "", "status 500"]
    assert [row["tool"] for row in uses] == [CLOCK]


async def test_the_message_of_the_service_is_in_the_row_of_the_call_that_failed():
    await make("clock", "big")
    failed = ModelFailed("Refused.", status=400, said="temperature is\0 too high")
    entries: list[CallEntry] = []
    meter = RunMeter(entries.append, "page", "user-1")
    with pytest.raises(ModelFailed):
        await run_application(
            await resolve_application("clock"),
            RunRequest((ModelMessage("user", "Hi"),)),
            ModelsWorkspace(CALLER, {"big": ScriptedModel([failed])}),
            CALLER,
            lambda event: None,
            progress=Progress(meter=meter),
        )

    await sync_to_async(call_rows.write)(entries)

    assert await model_calls("error", "said") == [("status 400", "temperature is� too high")]


async def test_the_calls_of_an_application_inside_are_counted_once_and_as_its_own():
    await make("outer", "big", simple("inner"))
    await make("inner", "small")
    big = ScriptedModel(
        calling(("1", "inner", {"query": "Time?"})), saying("Noon.", prompt=20, completion=2)
    )
    small = ScriptedModel(calling(("9", CLOCK, {})), saying("Noon", prompt=7, completion=1))

    await stored("outer", big=big, small=small)

    columns = ("run", "application", "deployment", "iteration", "input_tokens")
    assert await model_calls(*columns) == [
        (RUN, "outer", "big", 1, None),
        (RUN, "inner", "small", 1, None),
        (RUN, "inner", "small", 2, 7),
        (RUN, "outer", "big", 2, 20),
    ]
    uses = ToolUse.objects.order_by("pk").values_list("application", "tool")
    assert [row async for row in uses] == [("inner", CLOCK), ("outer", "inner")]


async def test_a_deployment_that_is_a_tool_has_a_row_of_its_own():
    await make("outer", "big", simple("small"))
    big = ScriptedModel(calling(("1", "small", {"query": "Time?"})), saying("Noon."))
    small = ScriptedModel(saying("Noon", prompt=7, completion=1))

    await stored("outer", big=big, small=small)

    assert await model_calls("application", "deployment", "input_tokens") == [
        ("outer", "big", None), ("outer", "small", 7), ("outer", "big", None)
    ]  # fmt: skip


async def test_a_subagent_counts_as_the_application_that_asked_it(settings):
    settings.ENABLE_PREVIEW_FEATURES = True
    await make("boss", "big", features={"subagents": {"enabled": True}})
    task = {"subagent_type": "general-purpose", "prompt": "What is the time?", "tool_sets": []}
    big = ScriptedModel(
        calling(("1", "internal_task", task)),
        saying("Noon", prompt=7),
        saying("It is noon.", prompt=9),
    )

    await stored("boss", big=big)

    assert await model_calls("application", "iteration", "input_tokens") == [
        ("boss", 1, None), ("boss", 1, 7), ("boss", 2, 9)
    ]  # fmt: skip


@proves("T-60")
async def test_each_attempt_has_its_row():
    await make("app", "big")
    busy = ModelFailed("busy", status=503, is_transient=True, retry_after=0)
    big = ScriptedModel([busy], saying("Yes"))

    await stored("app", big=big)

    assert await model_calls("iteration", "error", "finish_reason") == [
        (1, "status 503", ""), (1, "", "stop")
    ]  # fmt: skip


async def test_an_answer_that_is_cut_short_is_counted():
    await make("app", "big")
    big = ScriptedModel([text("Well"), Usage(5, 1), ScriptedModel.never])
    entries: list[CallEntry] = []
    task = asyncio.create_task(
        run_application(
            await resolve_application("app"),
            RunRequest((ModelMessage("user", "?"),)),
            ModelsWorkspace(CALLER, {"big": big}),
            CALLER,
            lambda event: None,
            progress=Progress(meter=RunMeter(entries.append, "page", "user-1")),
        )
    )
    await big.waiting.wait()
    task.cancel()
    await asyncio.wait([task])

    [report] = [entry.report for entry in entries]
    assert isinstance(report, ModelCallReport)
    assert (report.error, report.usage) == ("cancelled", (ModelUsage("big", 5, 1),))
    assert report.first_text_seconds is not None


def entry(report: ModelCallReport | ToolCallReport, at: float | None = None) -> CallEntry:
    meter = RunMeter(lambda one: None, "core", "5Uq3", RUN, CONVERSATION, "app", 3)
    return CallEntry(meter, report, timezone.now().timestamp() if at is None else at)


def usage(model: str = "gpt", input: int = 1_000_000, output: int = 0) -> tuple[ModelUsage, ...]:
    return (ModelUsage(model, input, output),)


def costs() -> list[tuple[Any, ...]]:
    return list(ModelCall.objects.order_by("pk").values_list("model", "cost", "currency"))


def openai(deployment_id: str = "gpt", **fields: Any) -> Deployment:
    service = {
        "provider": "openai",
        "base_url": "https://api.openai.com/v1",
        "model_name": "gpt-4o",
    }
    return make_deployment(deployment_id, **{**service, **fields})


def test_a_call_costs_the_list_price_of_its_model():
    openai()
    make_deployment("demo")
    openai("mine", base_url="http://10.0.0.7/v1")

    call_rows.write(
        [entry(ModelCallReport(name, 1.0, usage(name))) for name in ("gpt", "demo", "mine")]
    )

    assert costs() == [("gpt-4o", Decimal("2.5"), "USD"), ("demo", None, ""), ("gpt-4o", None, "")]


def test_an_own_price_is_valid_from_its_day():
    deployment = openai()
    for day, price in ((date(2026, 3, 1), "1"), (date(2026, 3, 5), "7")):
        Price.objects.create(
            deployment=deployment, valid_from=day, input=price, currency="EUR", per_call="0.5"
        )
    days = [date(2026, 2, 28), date(2026, 3, 1), date(2026, 3, 4), date(2026, 3, 5)]

    call_rows.write(
        [entry(ModelCallReport("gpt", 1.0, usage()), noon(day)) for day in days],
    )

    assert costs() == [
        ("gpt-4o", Decimal("2.5"), "USD"),
        ("gpt-4o", Decimal("1.5"), "EUR"),
        ("gpt-4o", Decimal("1.5"), "EUR"),
        ("gpt-4o", Decimal("7.5"), "EUR"),
    ]


def test_an_own_price_is_for_the_deployment_whatever_its_service_calls_the_model():
    deployment = openai("proxied", base_url="http://10.0.0.7/v1")
    Price.objects.create(deployment=deployment, valid_from=date(2026, 1, 1), input=3)

    call_rows.write(
        [
            entry(ModelCallReport("proxied", 1.0, usage("gpt-4o-2024"))),
            entry(ModelCallReport("proxied", 1.0, (*usage("other"), *usage("gpt-4o")))),
        ]
    )

    assert costs() == [
        ("gpt-4o-2024", Decimal(3), "USD"), ("other", None, ""), ("gpt-4o", Decimal(3), "USD")
    ]  # fmt: skip


def noon(day: date) -> float:
    return datetime.combine(day, time(12), UTC).timestamp()


@proves("R-28")
def test_an_application_outside_that_reports_several_models_has_a_row_for_each():
    spent = (*usage("gpt-4o", 1_000_000), *usage("no-such-model", 5))

    call_rows.write([entry(ModelCallReport("remote-app", 2.0, spent, first_text_seconds=0.5))])

    found = ModelCall.objects.order_by("pk")
    assert costs() == [("gpt-4o", Decimal("2.5"), "USD"), ("no-such-model", None, "")]
    assert list(found.values_list("deployment", "seconds", "first_text_seconds")) == [
        ("remote-app", 2.0, 0.5), ("remote-app", None, None)
    ]  # fmt: skip
    assert set(found.values_list("bucket_kind", flat=True)) == {"dial"}


def test_what_does_not_fit_is_cut():
    report = ModelCallReport("x\0" + "é" * 300, 1.0, usage("gpt", 10**30), error="e" * 300)

    call_rows.write([entry(report)])

    row = ModelCall.objects.get()
    assert row.deployment == "x\N{REPLACEMENT CHARACTER}" + "é" * 253
    assert (row.input_tokens, row.error) == (2**63 - 1, "e" * 50)


def test_the_cost_of_runs_is_one_query(django_assert_num_queries):
    openai()
    call_rows.write([entry(ModelCallReport("gpt", 1.0, usage())) for _ in range(2)])

    with django_assert_num_queries(1):
        found = costs_of_runs([RUN, CONVERSATION])

    assert {run: sums.costs for run, sums in found.items()} == {RUN: {"USD": Decimal(5)}}


@proves("T-60")
async def test_rows_that_the_database_refuses_fail_no_run_and_are_told_once(monkeypatch, caplog):
    writer = RunSummaryWriter(on_a_thread)
    monkeypatch.setattr(call_rows, "recent_services", lambda names: 1 / 0)

    for _ in range(2):
        with writer.recorded(RunFigures("gateway", "app", "user-1")) as progress:
            progress.meter.inside("app", 1).model_called(ModelCallReport("gpt", 1.0))
        await writer.flush()
    await writer.close()

    assert [row.status async for row in RunSummary.objects.all()] == ["done", "done"]
    told = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert told == [
        "A row of calls was rejected and is lost",
        "2 rows of calls were rejected and are lost: ZeroDivisionError",
    ]


async def test_the_calls_of_a_run_are_written_with_its_row():
    writer = RunSummaryWriter(on_a_thread)
    figures = RunFigures("gateway", "app", "key-ab12cd34")

    with writer.recorded(figures) as progress:
        progress.meter.inside("app", 4).model_called(ModelCallReport("gpt", 1.0))
        progress.meter.inside("app", 4).tool_called(ToolCallReport("look", 1, None, "client"))
    await writer.close()

    columns = ("run", "application", "version", "door", "bucket", "bucket_kind")
    expected = (figures.id, "app", 4, "gateway", "key-ab12cd34", "key")
    assert await model_calls(*columns) == [expected]
    assert await ToolUse.objects.values_list(*columns).aget() == expected
