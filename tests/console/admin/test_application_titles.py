"""Pages of operators show applications by title, and the slug where it distinguishes them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from apps.console.admin.callers import application_titles
from apps.live.models import Run
from apps.live.run_summary import RunSummary
from tests.catalog.rows import make_application
from tests.console.pages import words
from tests.insights.calls import model_call, store

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

TITLES = {"desk": "Service desk", "twin-a": "Twin (twin-a)", "twin-b": "Twin (twin-b)"}


@pytest.fixture
def failed() -> RunSummary:
    """Return a failed run of one of three applications, of which two have the same title."""
    for slug, title in (("desk", "Service desk"), ("twin-a", "Twin"), ("twin-b", "Twin")):
        make_application(slug, title=title)
    recent = timezone.now() - timedelta(minutes=1)
    run = RunSummary.objects.create(
        door="page", application="desk", bucket="user-1", status="failed", started_at=recent
    )
    calls = {"started_at": recent, "error": "timeout", "version": 3}
    store(
        model_call(application="desk", run=run.pk, **calls),
        model_call(application="twin-a", run=run.pk, **calls),
    )
    return run


def names(client: Client, by: str) -> list[str]:
    table = client.get(f"/admin/insights/usagesum/?by={by}").context["table"]
    return sorted(row[0].text for row in table.rows)


def test_a_title_of_several_applications_is_followed_by_the_slug(failed):
    assert application_titles([*TITLES, "deleted"]) == TITLES


def test_the_page_of_a_run_names_its_application_and_nested_applications(client, operator, failed):
    address = f"/admin/runs/runsummary/{failed.pk}/"

    page = client.get(f"{address}change/")
    requests = client.get(f"{address}requests/")

    assert page.context["subtitle"] == "Service desk: failed"
    nested = [row.span.name for row in page.context["waterfall"].rows if row.span.kind == "run"]
    assert nested == ["Twin (twin-a)"]
    assert "Runs Service desk: failed" in words(page)
    assert "Application Service desk" in words(page)
    assert "of Service desk for" in words(requests)


def test_usage_and_errors_name_applications_and_their_versions(client, operator, failed):
    [last, *_] = client.get("/admin/insights/usagesum/errors/").context["others"]

    assert names(client, "application") == ["Service desk", "Twin (twin-a)"]
    assert names(client, "version") == ["Service desk, version 3", "Twin (twin-a), version 3"]
    assert {row[3].text for row in last.rows} == {"Service desk", "Twin (twin-a)"}


def test_the_home_page_and_the_palette_name_the_application_of_a_failed_run(
    client, operator, failed
):
    assert "Failed runs of Service desk" in words(client.get("/admin/"))
    [group] = client.get("/admin/find/", {"q": str(failed.pk)}).json()["groups"]
    assert [one["title"] for one in group["found"]] == ["Service desk, failed"]


def test_lists_and_their_filters_name_applications(client, operator, failed):
    given: dict[str, Any] = {"stream": uuid4(), "request": uuid4(), "bucket": "user-0"}
    Run.objects.create(application="twin-b", status="running", **given)

    page = client.get("/admin/runs/run/")

    assert "Twin (twin-b)" in words(page)
    [chosen] = [one for one in page.context["cl"].filter_specs if one.title == "application"]
    assert dict(chosen.lookup_choices) == TITLES
    filters = dict(client.get("/admin/runs/runsummary/").context["filters"])
    assert [one.title for one in filters["Application"].options] == ["All", *TITLES.values()]
