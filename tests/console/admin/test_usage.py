"""The page "Usage", its file, and prices."""

from __future__ import annotations

import csv
import io
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone

from apps.catalog.models import Change
from apps.insights.models import Price
from apps.live.run_summary import RunSummary
from tests.catalog.rows import make_deployment, make_operator
from tests.insights.calls import model_call, store, tool_use

pytestmark = pytest.mark.django_db

PAGE = "/admin/insights/dailyusage/"
HOSTILE = '=HYPERLINK("http://evil.example")<script>alert(1)</script>'


@pytest.fixture
def operator(client) -> User:
    person = make_operator()
    client.force_login(person)
    return person


def calls(person: User) -> None:
    recent = {"started_at": timezone.now() - timedelta(minutes=1), "bucket": f"user-{person.pk}"}
    spent = {"input_tokens": 1000, "cached_tokens": 250, "output_tokens": 20}
    store(
        model_call(**recent, **spent, cost=Decimal("0.0123"), currency="USD", seconds=2.0),
        model_call(**recent, **spent, error="timeout", first_text_seconds=0.5),
        tool_use(**recent, tool=HOSTILE, seconds=0.25),
    )
    RunSummary.objects.create(door="page", application="travel", bucket=f"user-{person.pk}")


def test_the_page_shows_what_was_used(client, operator):
    calls(operator)

    answer = client.get(PAGE)

    [line] = answer.context["lines"]
    assert line.name == "travel"
    assert {cell.title: cell.text for cell in line.cells} == {
        "Runs": "1",
        "Model calls": "2",
        "Tokens in": "2,000",
        "Tokens out": "40",
        "Cost": "0.0123 USD",
        "Unpriced calls": "0",
        "Cache hits": "25.0%",
        "Errors": "50.0%",
        "First text p50": "0.50 s",
        "First text p95": "0.50 s",
        "Duration p50": "1.00 s",
        "Duration p95": "2.00 s",
    }


def test_callers_are_shown_by_their_names(client, operator):
    calls(operator)

    [line] = client.get(f"{PAGE}?by=bucket&days=30").context["lines"]

    assert line.name == "operator"


def test_names_are_escaped_and_no_formulas(client, operator):
    calls(operator)

    page = client.get(f"{PAGE}?by=tool").content.decode()
    file = client.get(f"{PAGE}usage.csv?by=tool")

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert file["Content-Type"] == "text/csv; charset=utf-8"
    assert list(csv.reader(io.StringIO(file.content.decode()))) == [
        ["Tool", "Calls", "Errors", "Duration p50", "Duration p95"],
        [f"'{HOSTILE}", "1", "0.0", "0.25", "0.25"],
    ]


def test_the_file_has_costs_to_their_last_place(client, operator):
    calls(operator)

    file = client.get(f"{PAGE}usage.csv?by=deployment").content.decode()

    [line] = csv.DictReader(io.StringIO(file))
    assert (line["Deployment"], line["Tokens in"], line["Cost"]) == (
        "gpt", "2000", "0.0123000000 USD"
    )  # fmt: skip


@pytest.mark.parametrize("query", ["", "?by=tool&days=7", "?by=nothing&days=-1", "?days=90"])
def test_without_calls_the_page_says_so(client, operator, query):
    answer = client.get(PAGE + query)

    assert answer.status_code == 200
    assert "was called in the last" in answer.content.decode()


@pytest.mark.parametrize("by", ["application", "bucket", "deployment", "tool"])
@pytest.mark.parametrize("days", [1, 90])
def test_a_page_takes_fifteen_queries_at_most(
    client, operator, django_assert_max_num_queries, by, days
):
    calls(operator)

    with django_assert_max_num_queries(15):
        client.get(f"{PAGE}?by={by}&days={days}")


def test_only_who_may_see_it_sees_it(client):
    reader = User.objects.create_user("reader", is_staff=True)
    client.force_login(reader)
    refused = [client.get(PAGE + path).status_code for path in ("", "usage.csv")]

    reader.user_permissions.add(Permission.objects.get(codename="view_dailyusage"))

    assert refused == [403, 403]
    assert client.get(PAGE).status_code == 200


def test_runs_are_listed_with_what_they_cost(client, operator):
    calls(operator)
    run = RunSummary.objects.get()
    store(model_call(run=run.pk, cost=Decimal("1.5"), currency="USD"))

    page = client.get("/admin/runs/runsummary/").content.decode()

    assert "1.50 USD" in page


def test_a_price_is_set_below_its_deployment_and_recorded(client, operator):
    deployment = make_deployment("gpt")
    page = client.get(f"/admin/workspace/deployment/{deployment.pk}/change/")
    form = page.context["adminform"].form
    data: dict[str, Any] = {name: form[name].value() for name in form.fields}
    data = {name: "" if value is None else value for name, value in data.items()}
    data |= {"features": "{}", "input_attachment_types": "[]", "parameters": "{}"}
    data |= {
        "prices-TOTAL_FORMS": 1,
        "prices-INITIAL_FORMS": 0,
        "prices-0-valid_from": "2026-03-01",
        "prices-0-currency": "EUR",
        "prices-0-input": "2.5",
        "prices-0-output": "10",
        "prices-0-per_call": "0",
    }

    answer = client.post(page.request["PATH_INFO"], data)

    assert answer.status_code == 302, answer.context["errors"]
    price = Price.objects.get()
    assert (price.deployment, price.valid_from, price.input) == (
        deployment, date(2026, 3, 1), Decimal("2.5")
    )  # fmt: skip
    change = Change.objects.get(kind="insights.price")
    assert (change.what, change.title, change.actor) == (
        "created", "gpt from 2026-03-01", "operator"
    )  # fmt: skip
    assert change.after is not None
    assert change.after["valid_from"] == "2026-03-01"
    assert Decimal(change.after["input"]) == Decimal("2.5")


def test_the_history_of_a_price_is_shown(client, operator):
    price = Price.objects.create(
        deployment=make_deployment("gpt"), valid_from=date(2026, 3, 1), input=2
    )
    price.input = Decimal(3)
    price.save()

    page = client.get(f"/admin/insights/price/{price.pk}/history/")

    assert [(change.what, change.count) for change in page.context["page"]] == [
        ("changed", 1), ("created", 6)
    ]  # fmt: skip
