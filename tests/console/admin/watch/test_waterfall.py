"""One run over time, on its page in the admin."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

from apps.console.admin.watch import waterfall
from apps.console.admin.watch.waterfall import axis_marks, duration, waterfall_of
from apps.live.models import Interaction, Run, RunStep
from apps.live.run_summary import RunSummary
from tests.catalog.rows import make_operator
from tests.insights.calls import NOON, model_call, store, tool_use

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> RunSummary:
    return RunSummary.objects.create(
        door="page",
        application="travel",
        bucket="user-1",
        status="done",
        started_at=NOON,
        seconds=10.0,
    )


def after(seconds: float):
    return NOON + timedelta(seconds=seconds)


def test_calls_are_shown_in_their_order_on_one_axis(run):
    spent = {"input_tokens": 1200, "cached_tokens": 1000, "output_tokens": 30}
    store(
        tool_use(run=run.pk, started_at=after(2), seconds=2.5, has_failed=True),
        model_call(
            run=run.pk,
            started_at=after(0),
            seconds=2.0,
            first_text_seconds=0.5,
            cost=Decimal("0.5"),
            currency="USD",
            **spent,
        ),
        model_call(run=run.pk, started_at=after(5), seconds=5.0, error="cancelled"),
        tool_use(run=run.pk, started_at=after(4), seconds=None, location="client", tool="look"),
        model_call(run=uuid4(), started_at=after(1)),
    )

    found = waterfall_of(run)

    assert [
        (row.kind, row.span.name, row.began, row.took, row.x, row.width, row.span.detail)
        for row in found.rows
    ] == [
        (
            *("Model", "gpt", "0 s", "2.00 s", "0.00", "20.00"),
            ("1,200 input tokens (1,000 cached), 30 output tokens; first token after 0.50 s; "
            "0.5000 USD"),
        ),
        ("Tool", "Search", "2.00 s", "2.50 s", "20.00", "25.00", ""),
        ("Tool", "Look", "4.00 s", "\N{EN DASH}", "40.00", "0.50", "on the client"),
        ("Model", "gpt", "5.00 s", "5.00 s", "50.00", "50.00", "Cancelled"),
    ]  # fmt: skip
    assert [row.span.has_failed for row in found.rows] == [False, True, False, False]
    assert found.marks == ["0 s", "2.50 s", "5.00 s", "7.50 s", "10.00 s"]


def test_a_failed_call_has_the_message_of_the_service(run):
    store(model_call(run=run.pk, error="status 400", said="temperature is too high"))

    (row,) = waterfall_of(run).rows

    assert (
        row.span.detail == "The service rejected the request (status 400): temperature is too high"
    )


def test_a_run_inside_holds_its_calls(run):
    store(
        tool_use(run=run.pk, started_at=after(1), seconds=4.0, tool="ask_hotel"),
        model_call(run=run.pk, application="hotels", started_at=after(2), seconds=1.0),
        tool_use(run=run.pk, application="hotels", started_at=after(3), seconds=1.5),
    )

    rows = waterfall_of(run).rows

    assert [(row.kind, row.span.name, row.span.is_inside, row.took) for row in rows] == [
        ("Tool", "Ask hotel", False, "4.00 s"),
        ("Nested run", "hotels", False, "2.50 s"),
        ("Model", "gpt", True, "1.00 s"),
        ("Tool", "Search", True, "1.50 s"),
    ]
    assert [row.span.hint for row in rows] == ["ask_hotel", "", "", "search"]


def test_a_kept_run_shows_what_it_waited_for(run):
    kept = Run.objects.create(
        id=run.pk, stream=uuid4(), request=uuid4(), application="travel", bucket="user-1"
    )
    step = {"run": kept, "kind": "tool", "policy": "repeat"}
    RunStep.objects.create(
        **step, key="t:1:0:a", status="done", begun_at=after(1), done_at=after(9)
    )
    RunStep.objects.create(**step, key="t:1:1:b", status="done", done_at=after(9))
    Interaction.objects.create(run=kept, key="t:1:0:a", kind="sign_in", asked={}, answer={})

    [row] = waterfall_of(run).rows

    assert (row.kind, row.span.name, row.took) == ("Wait", "sign in", "8.00 s")


def test_the_page_of_a_run_shows_it_without_a_word_of_what_was_said(client, run):
    store(tool_use(run=run.pk, started_at=after(1), tool="<b>bold</b>"))
    client.force_login(make_operator())

    page = client.get(f"/admin/runs/runsummary/{run.pk}/change/").text

    assert "Timeline" in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert "<b>bold" not in page


def test_a_run_without_calls_says_so(client, run):
    client.force_login(make_operator())

    page = client.get(f"/admin/runs/runsummary/{run.pk}/change/").text

    assert "No calls are stored" in page


def test_a_run_of_very_many_calls_is_cut(run, monkeypatch):
    monkeypatch.setattr(waterfall, "MOST_SPANS", 3)
    store(
        *(model_call(run=run.pk, started_at=after(number)) for number in range(3)),
        *(tool_use(run=run.pk, started_at=after(number)) for number in range(3)),
    )

    found = waterfall_of(run)

    assert (len(found.rows), found.left_out) == (3, 3)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.0123, "12.3 ms"),
        (119.4, "119.40 s"),
        (120, "2 min 00 s"),
        (3725, "1 h 02 min"),
    ],
)
def test_durations_are_shown_in_fitting_units(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("length", "marks"),
    [
        (0.001, ["0 ms", "0.25 ms", "0.5 ms", "0.75 ms", "1 ms"]),
        (0.3, ["0 ms", "75 ms", "150 ms", "225 ms", "300 ms"]),
        (0.9999, ["0 ms", "250 ms", "500 ms", "750 ms", "1000 ms"]),
        (1, ["0 s", "0.25 s", "0.50 s", "0.75 s", "1.00 s"]),
        (240, ["0 min 00 s", "1 min 00 s", "2 min 00 s", "3 min 00 s", "4 min 00 s"]),
    ],
)
def test_the_labels_of_an_axis_have_a_unit_that_suits_its_length(length, marks):
    assert axis_marks(length) == marks
