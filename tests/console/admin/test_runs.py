from __future__ import annotations

from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from apps.live.models import HelperRun, Run
from apps.live.run_summary import RunSummary
from tests.catalog.rows import make_application, make_operator

pytestmark = pytest.mark.django_db

PAGE = "/admin/runs/runsummary/"


@pytest.fixture
def runs() -> list[RunSummary]:
    make_application("travel")
    rows = [
        RunSummary(door="gateway", application="travel", bucket="key-1", status="done"),
        RunSummary(door="page", application="travel", bucket="user-1", status="stopped"),
        RunSummary(
            door="core",
            application="applications/b/kept",
            bucket="b",
            status="failed",
            error_reference="1a2b3c4d",
        ),
    ]
    return RunSummary.objects.bulk_create(rows)


@pytest.mark.parametrize(
    ("query", "doors"),
    [
        ("", {"gateway", "page", "core"}),
        ("?door__exact=core", {"core"}),
        ("?status__exact=stopped", {"page"}),
        ("?application=travel", {"gateway", "page"}),
        ("?q=1a2b3c4d", {"core"}),
        ("?q=user-1", {"page"}),
        ("?q=use", set()),
    ],
)
def test_runs_are_filtered_and_found(client, runs, query, doors):
    client.force_login(make_operator())

    answer = client.get(PAGE + query)

    assert {row.door for row in answer.context["cl"].result_list} == doors


def test_runs_are_only_read(client, runs):
    client.force_login(make_operator())

    statuses = [
        client.get(f"{PAGE}add/").status_code,
        client.get(f"{PAGE}{runs[0].pk}/change/").status_code,
        client.post(f"{PAGE}{runs[0].pk}/change/", {"status": "failed"}).status_code,
        client.post(f"{PAGE}{runs[0].pk}/delete/", {"post": "yes"}).status_code,
    ]

    assert statuses == [403, 200, 403, 403]
    assert RunSummary.objects.count() == 3


def test_staff_without_the_permission_do_not_see_them(client, runs):
    client.force_login(User.objects.create_user("reader", is_staff=True))

    assert client.get(PAGE).status_code == 403


def test_the_page_of_a_run_lists_its_helpers_without_their_names(client, runs):
    run = Run.objects.create(
        pk=runs[1].pk, stream=uuid4(), request=uuid4(), application="travel", bucket="user-1"
    )
    HelperRun.objects.create(
        run=run, key="t:1:0:a", name="Secret plan", agent="Scout", status="done", model_calls=2
    )
    client.force_login(make_operator())

    page = client.get(f"{PAGE}{run.pk}/change/").content.decode()
    other = client.get(f"{PAGE}{runs[0].pk}/change/").content.decode()

    assert "Scout: done, 2 calls of models, 0 of tools, 0 + 0 tokens" in page
    assert "Secret plan" not in page
    assert "calls of models, " not in other
