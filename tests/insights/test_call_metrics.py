"""Metrics of model and tool calls are recorded when their rows are written."""

from __future__ import annotations

from datetime import date
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError

from apps.agent.events import ModelUsage
from apps.agent.meter import ModelCallReport, ToolCallReport
from apps.gateway.prometheus import PrometheusSink
from apps.insights import call_metrics, call_rows
from apps.insights.meter import CallEntry, RunMeter
from apps.insights.models import Price
from tests.catalog.rows import make_deployment
from tests.contract import proves
from tests.measuring.metrics import connected, samples

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

METER = RunMeter(lambda entry: None, "page", "user-77", UUID(int=1), UUID(int=2), "travel", 3)
GPT = 'model="gpt-4o",provider="openai"'
NAMES = ("quickapps_model_calls", "quickapps_tokens", "quickapps_cost", "quickapps_unpriced")


def write(*reports: Any) -> None:
    call_rows.write([CallEntry(METER, report, 1_800_000_000.0) for report in reports])


def told(*reports: Any) -> dict[str, float]:
    with connected(sink := PrometheusSink()):
        write(*reports)
        return samples(sink)


@proves("T-62")
def test_calls_of_models_have_the_labels_provider_and_model_and_no_person():
    row = make_deployment(
        "gpt", provider="openai", model_name="gpt-4o", base_url="http://models.test/v1"
    )
    Price.objects.create(deployment=row, valid_from=date(2020, 1, 1), currency="EUR", input=10)
    usage = ModelUsage("gpt", 1000, 20, cached=250, created=None, reasoning=5)

    found = told(
        ModelCallReport("gpt", 2.0, (usage,), 1, 0.5, "stop"),
        ModelCallReport("gpt", 1.0, (), 2, error="status 429"),
        ModelCallReport("gpt", 1.0, (), 3, error="cancelled"),
        ModelCallReport("gpt", 1.0, (), 4, error="ZeroDivisionError"),
    )

    assert found == {
        f'quickapps_model_calls_total{{model="gpt-4o",outcome="{outcome}",provider="openai"}}': 1
        for outcome in ("done", "status 429", "cancelled", "failed")
    } | {
        f"quickapps_turn_seconds_count{{{GPT}}}": 4,
        f"quickapps_turn_seconds_sum{{{GPT}}}": 5,
        f"quickapps_first_text_seconds_count{{{GPT}}}": 1,
        f"quickapps_first_text_seconds_sum{{{GPT}}}": 0.5,
        f"quickapps_cached_ratio_count{{{GPT}}}": 1,
        f"quickapps_cached_ratio_sum{{{GPT}}}": 0.25,
        f'quickapps_tokens_total{{kind="input",{GPT}}}': 1000,
        f'quickapps_tokens_total{{kind="cached",{GPT}}}': 250,
        f'quickapps_tokens_total{{kind="output",{GPT}}}': 20,
        f'quickapps_tokens_total{{kind="reasoning",{GPT}}}': 5,
        'quickapps_cost_total{currency="EUR",model="gpt-4o",provider="openai"}': 0.01,
    }


@proves("T-62")
def test_calls_of_tools_have_no_names_which_anybody_may_choose():
    found = told(
        ToolCallReport("search", 1, 0.5),
        ToolCallReport("search", 1, 1.5, has_failed=True),
        ToolCallReport("of the client", 1, None, "client"),
    )

    assert found == {
        'quickapps_tool_calls_total{location="server",outcome="done"}': 1,
        'quickapps_tool_calls_total{location="server",outcome="failed"}': 1,
        'quickapps_tool_calls_total{location="client",outcome="done"}': 1,
        'quickapps_tool_seconds_count{location="server"}': 2,
        'quickapps_tool_seconds_sum{location="server"}': 2,
    }


@proves("T-62")
def test_a_name_of_a_model_that_never_answered_makes_no_series():
    with connected(sink := PrometheusSink()):
        write(*(ModelCallReport(f"made-up-{n}", 1.0, error="status 404") for n in range(50)))
        found = samples(sink)

    assert found == {
        'quickapps_model_calls_total{model="other",outcome="status 404",provider="dial"}': 50,
        'quickapps_turn_seconds_count{model="other",provider="dial"}': 50,
        'quickapps_turn_seconds_sum{model="other",provider="dial"}': 50,
    }


@proves("T-62")
def test_models_beyond_the_most_are_counted_together(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(call_metrics, "MOST_MODELS", 2)

    found = told(*(ModelCallReport(f"m{n}", 1.0) for n in (1, 2, 3, 4, 1)))

    calls = {name: value for name, value in found.items() if name.startswith(NAMES[0])}
    assert calls == {
        f'quickapps_model_calls_total{{model="{name}",outcome="done",provider="dial"}}': number
        for name, number in (("m1", 2), ("m2", 1), ("other", 2))
    }


def test_further_models_that_an_application_reports_are_no_calls_of_their_own():
    both = (ModelUsage("big", 100, 10), ModelUsage("small", 7, 1))

    found = told(ModelCallReport("outside", 3.0, both))

    assert {name: value for name, value in found.items() if name.startswith(NAMES)} == {
        'quickapps_model_calls_total{model="big",outcome="done",provider="dial"}': 1,
        'quickapps_unpriced_calls_total{model="big",provider="dial"}': 1,
        'quickapps_tokens_total{kind="input",model="big",provider="dial"}': 100,
        'quickapps_tokens_total{kind="output",model="big",provider="dial"}': 10,
        'quickapps_tokens_total{kind="input",model="small",provider="dial"}': 7,
        'quickapps_tokens_total{kind="output",model="small",provider="dial"}': 1,
    }


@pytest.mark.django_db(transaction=True)
def test_rows_that_are_written_at_the_second_attempt_count_once(monkeypatch: pytest.MonkeyPatch):
    def refuse(*arguments: Any) -> None:
        raise OperationalError("away")

    with connected(sink := PrometheusSink()):
        with monkeypatch.context() as patch, pytest.raises(OperationalError):
            patch.setattr(call_rows, "insert_rows", refuse)
            write(ToolCallReport("search", 1, None))
        write(ToolCallReport("search", 1, None))
        found = samples(sink)

    assert found == {'quickapps_tool_calls_total{location="server",outcome="done"}': 1}
