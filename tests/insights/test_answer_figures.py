"""The metrics of one answer are summed up as its calls end."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from apps.accounts.caller import Caller
from apps.agent.events import Event, ModelUsage
from apps.agent.messages import ModelMessage
from apps.agent.meter import ModelCallReport
from apps.agent.progress import Progress
from apps.catalog.resolve import resolve_application
from apps.insights.answer_figures import AnswerFigures, FiguresMeter, with_call
from apps.insights.meter import RunMeter
from apps.insights.models import Price
from apps.insights.prices import PRICES
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from tests.capabilities.deployment.scripts import simple
from tests.catalog.rows import make_deployment
from tests.contract import proves
from tests.fakes import ModelsWorkspace, ScriptedModel, calling, saying
from tests.insights.test_call_rows import make

pytestmark = pytest.mark.django_db

CALLER = Caller("user-1", "key")
SERVICE = "http://models.test/v1"


@pytest.fixture(autouse=True)
def _fresh_prices(settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 0)
    monkeypatch.setattr(PRICES, "services", {})


def price(name: str, title: str, currency: str = "USD", **amounts: Any) -> None:
    row = make_deployment(name, provider="openai", display_name=title, base_url=SERVICE)
    Price.objects.create(deployment=row, valid_from=date(2020, 1, 1), currency=currency, **amounts)


def after(*reports: ModelCallReport) -> AnswerFigures:
    PRICES.refresh()
    figures = AnswerFigures(version=3)
    for report in reports:
        figures = with_call(figures, report)
    return figures


def call(name: str, tokens: int | None = 1000, error: str = "", **fields: Any) -> ModelCallReport:
    usage = () if tokens is None else (ModelUsage(name, tokens, 0),)
    return ModelCallReport(name, 1.0, usage, 1, error=error, **{"finish_reason": "stop", **fields})


def test_costs_are_summed_up_by_currency_and_models_named_once_by_their_titles():
    price("big", "Big one", input=2)
    price("small", "Small one", "EUR", input=1, per_call=Decimal("0.5"))

    figures = after(call("big"), call("small"), call("big", 500))

    assert figures == AnswerFigures(
        3, ("Big one", "Small one"), {"USD": Decimal("0.003"), "EUR": Decimal("0.501")}
    )


@pytest.mark.parametrize(
    ("report", "is_priced"),
    [
        (call("unknown"), False),
        (call("big", None), False),
        (call("big", None, "cancelled", finish_reason=""), False),
        (call("big", None, "status 429", finish_reason=""), True),
        (call("big", 1000, "stream", finish_reason=""), True),
        (call("unknown", None, "status 404", finish_reason=""), True),
        (call("built-in"), True),
    ],
)
def test_a_cost_that_is_not_known_is_not_taken_for_nothing(
    report: ModelCallReport, is_priced: bool
):
    price("big", "Big one", input=2)
    make_deployment("built-in")

    assert after(call("big"), report).is_priced is is_priced


def test_vectors_cost_something_but_no_embedder_answers():
    price("vectors", "Vectors", input=2)

    figures = after(call("vectors", finish_reason=""))

    assert figures == AnswerFigures(3, (), {"USD": Decimal("0.002")})


def test_a_price_that_was_changed_counts_from_the_next_answer_on():
    price("big", "Big one", input=2)
    before = after(call("big"))

    Price.objects.update(input=4)

    assert (before.costs, after(call("big")).costs) == (
        {"USD": Decimal("0.002")},
        {"USD": Decimal("0.004")},
    )


def test_list_prices_are_read_before_they_are_needed():
    make_deployment("gpt-4o", provider="openai", base_url="https://api.openai.com/v1")
    PRICES.refresh()

    rates = PRICES.service("gpt-4o").rates("gpt-4o", datetime.now(UTC).date())

    assert rates is not None
    assert rates.currency == "USD"


@proves("R-28")
async def test_the_costs_of_an_application_inside_are_included_once():
    await make("outer", "big", simple("inner"))
    await make("inner", "small")
    await sync_to_async(price)("big", "Big one", input=1_000)
    await sync_to_async(price)("small", "Small one", input=10_000)
    await sync_to_async(PRICES.refresh)()
    big = ScriptedModel(
        calling(("1", "inner", {"query": "Time?"})), saying("It is noon.", prompt=20)
    )
    models = {"big": big, "small": ScriptedModel(saying("Noon", prompt=7))}
    figures = AnswerFigures()
    stored: list[Any] = []

    def tell(report: ModelCallReport) -> None:
        nonlocal figures
        figures = with_call(figures, report)

    meter = FiguresMeter(RunMeter(stored.append, "page", CALLER.bucket), tell)
    events: list[Event] = []
    request = RunRequest((ModelMessage("user", "Time?"),))
    workspace, progress = ModelsWorkspace(CALLER, models), Progress(meter=meter)
    await run_application(
        await resolve_application("outer"),
        request,
        workspace,
        CALLER,
        events.append,
        progress=progress,
    )

    assert figures.models == ("Big one", "Small one")
    assert figures.costs == {"USD": Decimal("0.09")}
    assert not figures.is_priced  # the first answer of the outer one reported no tokens
    assert [(entry.of.application, entry.report.seconds > 0) for entry in stored if isinstance(entry.report, ModelCallReport)] == [
        ("outer", True), ("inner", True), ("outer", True)
    ]  # fmt: skip
