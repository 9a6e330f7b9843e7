"""The page "Usage", its download, and prices."""

from __future__ import annotations

import csv
import io
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import OperationalError
from django.utils import timezone

from apps.catalog.models import Change
from apps.console.admin.cells import NOTHING, Table
from apps.console.admin.watch import usage
from apps.console.admin.watch.charts import Chart, ChartPoint, Series, round_up
from apps.console.time_cells import time_cell
from apps.insights.figures import report
from apps.insights.models import Price
from apps.insights.rollups import sum_up_all
from apps.live.history.run_rows import count_runs
from apps.live.run_summary import RunSummary
from tests.accounts.teams import make_team
from tests.catalog.rows import make_application, make_deployment
from tests.console.pages import permit, staff_account
from tests.insights.calls import NOON, model_call, store, tool_use

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

PAGE = "/admin/insights/usagesum/"
HOSTILE = '=HYPERLINK("http://evil.example")<script>alert(1)</script>'


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

    context = client.get(PAGE).context

    assert [(tile.title, tile.cell.text, tile.below) for tile in context["tiles"]] == [
        ("Cost", "0.0123 USD", ""),
        ("Runs", "1", "0 failed"),
        ("Users and keys", "1", ""),
        ("Model calls", "2", "1 tool call"),
        ("Tokens", "2,040", "2,000 input, 40 output, 25.0% cached"),
        ("Time to first token", "0.49 s", "p50; p95 0.49 s"),
    ]
    assert line_of(context["table"]) == {
        "Application": "travel",
        "Runs": "1",
        "Model calls": "2",
        "Input tokens": "2,000",
        "Output tokens": "40",
        "Cost": "0.0123 USD",
        "Errors": "50.0%",
    }


def test_the_file_has_the_columns_that_the_page_leaves_out(client, operator):
    calls(operator)

    headings, line = client.get(f"{PAGE}usage.csv?table=lines").text.splitlines()

    extra = dict(zip(headings.split(","), line.split(","), strict=True))
    assert (extra["Unpriced calls"], extra["Cache hits"]) == ("0", "0.25")
    assert {"First token p99", "Mean duration", "Duration p50"} < {*extra}


def line_of(table: Table) -> dict[str, str]:
    """Return the only row of a table."""
    [row] = table.rows
    return {column.title: cell.text for column, cell in zip(table.columns, row, strict=True)}


def test_errors_and_slow_tools_are_told_with_links_to_their_runs(client, operator):
    run = RunSummary.objects.create(
        door="page",
        application="travel",
        bucket="user-1",
        status=RunSummary.Status.FAILED,
        error_reference="ab12cd34",
    )
    recent = timezone.now() - timedelta(minutes=1)
    store(
        *(
            model_call(started_at=recent, error="status 429", run=run.pk, said=said)
            for said in ("Slow down.", None)
        ),
        tool_use(started_at=recent - timedelta(seconds=1), has_failed=True, seconds=3.0),
        model_call(started_at=recent, error="cancelled"),
    )

    last, errors = client.get(f"{PAGE}errors/").context["others"]
    [slowest] = client.get(PAGE).context["others"]

    words = "The service’s rate limit was reached (status 429"
    assert [[cell.text for cell in row[1:]] for row in last.rows] == [
        [f"{words}, 2 attempts)", "gpt", "travel", "user-7", "Failed"],
        ["Tool failed", "Search", "travel", "user-7", NOTHING],
    ]
    assert last.rows[0][0].text == time_cell(recent)
    page = f"/admin/runs/runsummary/{run.pk}/change/"
    assert [row[-1].link for row in last.rows] == [page, ""]
    assert (last.rows[0][1].note, last.rows[0][-1].below) == ("Slow down.", "ab12cd34")
    assert last.rows[1][2].below == "search"
    assert line_of(errors) == {"Error": f"{words})", "Calls": "2"}
    assert errors.rows[0][0].link == "/admin/runs/runsummary/?error=status+429&door=users"
    assert line_of(slowest)["Tool"] == "Search"


def test_errors_are_in_order_of_time_and_a_failed_run_without_calls_is_listed(client, operator):
    now = timezone.now()
    for minutes in (1, 3):
        failed = {"door": "page", "application": "travel", "bucket": "user-1", "status": "failed"}
        RunSummary.objects.create(started_at=now - timedelta(minutes=minutes), **failed)
    store(
        model_call(started_at=now - timedelta(minutes=2), error="timeout"),
        model_call(started_at=now - timedelta(minutes=5), error="timeout"),
        model_call(started_at=now - timedelta(minutes=30), error="timeout"),
    )

    [last, _] = client.get(f"{PAGE}errors/").context["others"]

    assert [row[1].text for row in last.rows] == [
        "Run failed",
        "The service timed out (2 attempts)",
        "Run failed",
        "The service timed out",
    ]


@pytest.mark.parametrize("is_summed", [False, True])
def test_failures_of_test_messages_in_the_studio_are_not_counted(client, operator, is_summed):
    test: dict[str, Any] = {"started_at": NOON, "door": "studio", "version": 0}
    spent = {"input_tokens": 10, "cost": Decimal("0.5"), "currency": "USD"}
    store(
        model_call(**test, **spent),
        model_call(**test, **spent, error="status 401"),
        tool_use(**test, has_failed=True),
        model_call(started_at=NOON, error="timeout"),
    )
    RunSummary.objects.create(
        door="studio", application="travel", bucket="user-1", status="failed", started_at=NOON
    )

    with time_machine.travel(NOON + timedelta(hours=3)):
        if is_summed:
            sum_up_all(count_runs)
        client.force_login(operator)
        last, errors = client.get(f"{PAGE}errors/").context["others"]
        found = report("version", timedelta(days=1), count_runs)

    assert [row[1].text for row in last.rows] == ["The service timed out"]
    assert line_of(errors) == {"Error": "The service timed out", "Calls": "1"}
    counts = {one.name: (one.sums.calls, one.sums.errors) for one in found.lines}
    assert counts == {"travel@0": (1, 0), "travel@1": (1, 1)}
    assert (found.total.sums.input_tokens, found.total.sums.costs) == (20, {"USD": Decimal(1)})
    assert (found.tools.sums.calls, found.total.sums.runs) == (0, 0)


def test_the_message_of_a_service_is_shown_only_to_users_who_may_see_runs(client):
    store(model_call(started_at=timezone.now(), error="status 400", said="No such model."))
    client.force_login(staff_account("reader", "view_usagesum", "see_all_applications"))

    page = client.get(f"{PAGE}errors/")

    assert "The service rejected the request (status 400)" in page.text
    assert "No such model." not in page.text


def test_the_errors_page_takes_sixteen_queries_at_most(
    client, operator, django_assert_max_num_queries
):
    calls(operator)
    client.get(PAGE)

    with django_assert_max_num_queries(16):
        client.get(f"{PAGE}errors/")


def test_lines_lead_to_what_they_are_about(client, operator):
    calls(operator)

    links = {
        by: client.get(f"{PAGE}?by={by}").context["table"].rows[0][0].link
        for by in ("application", "version", "user", "deployment", "tool")
    }

    assert links == {
        "application": "/admin/runs/runsummary/?application=travel",
        "version": "/admin/runs/runsummary/?application=travel&version=1",
        "user": f"/admin/runs/runsummary/?user=user-{operator.pk}",
        "deployment": "/admin/workspace/deployment/?q=gpt",
        "tool": f"/admin/runs/runsummary/?{urlencode({'tool': HOSTILE})}",
    }


def test_a_table_is_sorted_by_the_heading_that_is_chosen(client, operator):
    recent = {"started_at": timezone.now() - timedelta(minutes=1)}
    store(
        model_call(**recent, application="a", output_tokens=1),
        model_call(**recent, application="b", output_tokens=3),
        model_call(**recent, application="c", output_tokens=2),
    )

    context = client.get(f"{PAGE}?sort=-output_tokens").context

    assert [row[0].text for row in context["table"].rows] == ["b", "c", "a"]
    chosen = [one for one in context["headings"] if one["sort"]]
    assert chosen == [
        {
            "title": "Output tokens",
            "query": "by=application&days=1&sort=output_tokens",
            "sort": "descending",
        }
    ]


def test_names_are_sorted_as_they_are_shown(client, operator):
    recent = {"started_at": timezone.now() - timedelta(minutes=1)}
    titles = {"a": "Zoo", "b": "apples", "c": "Maps"}
    for slug, title in titles.items():
        make_application(slug, title=title)
    store(*(model_call(**recent, application=slug) for slug in (*titles, "gone")))

    shown = {
        sort: [row[0].text for row in client.get(f"{PAGE}?sort={sort}").context["table"].rows]
        for sort in ("name", "-name")
    }

    names = ["apples", "gone", "Maps", "Zoo"]
    assert shown == {"name": names, "-name": names[::-1]}


def test_callers_are_shown_by_their_names(client, operator):
    calls(operator)

    table = client.get(f"{PAGE}?by=user&days=30").context["table"]

    assert line_of(table)["User"] == "operator"


def test_teams_are_shown_by_their_names(client, operator):
    docs = make_team("Docs")
    store(model_call(started_at=timezone.now(), team=docs.pk))

    table = client.get(f"{PAGE}?by=team&days=30").context["table"]

    assert line_of(table)["Team"] == "Docs"


def test_charts_show_every_hour_and_say_what_they_show(client, operator):
    calls(operator)

    answer = client.get(PAGE)

    charts = {chart.title: chart for chart in answer.context["charts"]}
    assert list(charts) == [
        *("Cost in USD", "Runs", "Model calls", "Tokens", "Time to first token"),
    ]
    assert {chart.width for chart in charts.values()} == {24}
    assert charts["Model calls"].top == 2.0
    assert 'role="img" aria-label="Model calls. answered: maximum 1' in answer.text


def test_a_database_that_does_not_answer_is_told_of(client, operator, monkeypatch):
    def away(*asked: Any, **how: Any) -> None:
        raise OperationalError("canceling statement due to statement timeout")

    monkeypatch.setattr(usage, "report", away)

    answer = client.get(PAGE)

    assert (answer.status_code, "canceling" in answer.text) == (200, False)
    assert "The numbers cannot be loaded because of a database error." in answer.text


def test_names_are_escaped_and_no_formulas(client, operator):
    calls(operator)

    page = client.get(f"{PAGE}?by=tool").text
    file = client.get(f"{PAGE}usage.csv?by=tool")

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert file["Content-Type"] == "text/csv; charset=utf-8"
    [heading, [name, calls_of_tool, *_]] = read(file)
    assert heading == [
        *("Tool", "Calls", "Errors", "Mean duration"),
        *("Duration p50", "Duration p95", "Duration p99"),
    ]
    assert (name, calls_of_tool) == (f"'{HOSTILE}", "1")


def read(file: Any) -> list[list[str]]:
    return list(csv.reader(io.StringIO(file.text)))


def test_the_file_has_costs_to_their_last_place(client, operator):
    calls(operator)

    file = client.get(f"{PAGE}usage.csv?by=deployment").text

    [line] = csv.DictReader(io.StringIO(file))
    assert (line["Deployment"], line["Input tokens"], line["Cost"]) == (
        "gpt", "2000", "0.0123000000 USD"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("table", "first", "lines"),
    [
        ("series", "Hour", 24),
        ("errors", "Error", 1),
        ("slowest", "Tool", 1),
        ("last-errors", "When", 1),
        ("unknown", "Application", 1),
    ],
)
def test_every_table_is_a_file(client, operator, table, first, lines):
    calls(operator)

    file = client.get(f"{PAGE}usage.csv?table={table}")

    heading, *rows = read(file)
    assert (heading[0], len(rows)) == (first, lines)


@pytest.mark.parametrize("days", ["1", "30"])
def test_charts_have_readable_dates_and_files_have_iso_dates(client, operator, days):
    calls(operator)

    page = client.get(f"{PAGE}?days={days}").context
    rows = read(client.get(f"{PAGE}usage.csv?table=series&days={days}"))

    is_hour = days == "1"
    first = datetime.fromisoformat(rows[1][0])
    shown = f"{first.day} {first:%b %Y, %H:%M}" if is_hour else f"{first.day} {first:%b %Y}"
    assert page["charts"][0].labels[0] == shown


@pytest.mark.parametrize(
    ("days", "labels"),
    [
        ("1", ["29 Nov, 16:00", "30 Nov, 04:00", "15:00"]),
        ("7", ["23 Nov", "27 Nov", "30 Nov"]),
        ("30", ["1 Nov", "16 Nov", "30 Nov"]),
    ],
)
def test_labels_below_a_chart_have_the_date_only_where_it_changes(
    client, operator, monkeypatch, days, labels
):
    now = datetime(2026, 11, 30, 15, 20, tzinfo=UTC)
    monkeypatch.setattr(timezone, "now", lambda: now)

    page = client.get(f"{PAGE}?days={days}").context

    assert [chart.axis_labels for chart in page["charts"]] == [labels] * len(page["charts"])


def test_the_file_has_the_lines_that_the_page_leaves_out(client, operator, monkeypatch):
    monkeypatch.setattr(usage, "MOST_LINES", 2)
    recent = {"started_at": timezone.now() - timedelta(minutes=1)}
    store(*(model_call(**recent, application=f"app-{number}") for number in range(5)))

    context, file = client.get(PAGE).context, client.get(f"{PAGE}usage.csv")

    assert (len(context["table"].rows), context["left_out"]) == (2, 3)
    assert len(read(file)) == 1 + 5


@pytest.mark.parametrize("query", ["", "?by=tool&days=7", "?by=nothing&days=-1", "?days=90"])
def test_without_calls_the_page_says_so(client, operator, query):
    answer = client.get(PAGE + query)

    assert answer.status_code == 200
    assert "No usage in the last" in answer.text


@pytest.mark.parametrize("by", ["application", "version", "user", "key", "deployment", "tool"])
@pytest.mark.parametrize("days", [1, 90])
def test_a_page_takes_fifteen_queries_at_most(
    client, operator, django_assert_max_num_queries, by, days
):
    calls(operator)
    client.get(PAGE)  # records where the session is used

    with django_assert_max_num_queries(15):
        client.get(f"{PAGE}?by={by}&days={days}")


def test_only_who_may_see_it_sees_it(client):
    reader = staff_account("reader")
    client.force_login(reader)
    refused = [client.get(PAGE + path).status_code for path in ("", "usage.csv")]

    permit(reader, "view_usagesum", "see_all_applications")

    assert refused == [403, 403]
    assert client.get(PAGE).status_code == 200


def test_runs_are_listed_with_what_they_cost(client, operator):
    calls(operator)
    run = RunSummary.objects.get()
    store(model_call(run=run.pk, cost=Decimal("1.5"), currency="USD"))

    page = client.get("/admin/runs/runsummary/").text

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


# --- Charts ----------------------------------------------------------------------------------------


LABELS = ["1 May", "2 May", "3 May"]


def test_bars_stand_on_each_other():
    series = [Series("answered", [3, 0, 4]), Series("failed", [1, 0, 1])]

    chart = Chart("Calls", "bars", LABELS, LABELS, series)

    assert (chart.top, chart.top_text) == (5.0, "5")
    assert chart.paths == [
        (1, "M0.1 40.00h0.8v60.00h-0.8zM2.1 20.00h0.8v80.00h-0.8z"),
        (2, "M0.1 20.00h0.8v20.00h-0.8zM2.1 0.00h0.8v20.00h-0.8z"),
    ]
    assert chart.tooltips == [
        ChartPoint(0, "1 May: answered 3, failed 1"), ChartPoint(2, "3 May: answered 4, failed 1")
    ]  # fmt: skip
    assert chart.description == "answered: maximum 4, 3 May. failed: maximum 1, 1 May."


def test_a_line_is_interrupted_where_there_is_no_value():
    chart = Chart("Time", "steps", LABELS, LABELS, [Series("p50", [1.0, None, 0.5])], "s")

    assert chart.paths == [(1, "M0 0.00H1M2 50.00H3")]
    assert chart.top_text == "1.00 s"


def test_a_chart_without_values_is_told_from_one_with_values():
    assert not Chart("Calls", "bars", LABELS, LABELS, [Series("all", [0, 0, 0])]).has_values
    assert not Chart("Time", "steps", LABELS, LABELS, [Series("p50", [None] * 3)]).has_values
    assert Chart("Calls", "bars", LABELS, LABELS, [Series("all", [0, 1, 0])]).has_values


@pytest.mark.parametrize(
    ("value", "top"),
    [(0, 1.0), (0.003, 0.005), (1, 1.0), (1.1, 2.0), (4.2, 5.0), (7, 10.0), (1000, 1000.0)],
)
def test_the_upper_end_is_a_round_number(value, top):
    assert round_up(value) == pytest.approx(top)
