from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from apps.catalog.models import Application, ApplicationDraft
from apps.live.run_summary import RunSummary
from apps.process_state import reset
from tests.catalog.rows import make_application, make_deployment
from tests.console.pages import browser_of, signed_in, staff, staff_account
from tests.insights.calls import model_call, store
from tests.tables import each_row

pytestmark = pytest.mark.django_db

LIST = "/admin/catalog/application/"


@pytest.fixture
def admin_client() -> Client:
    make_deployment("demo-model")
    return signed_in()


MODEL = '{"deployment": {"deployment_id": "demo-model"}}'
FORMS = ("add/", "{row.pk}/change/")
"""The addresses of Django's own form of a row."""


def test_the_addresses_of_a_form_lead_to_the_studio(admin_client):
    row, new = make_application(), f"{LIST}new/"
    gone = make_application("gone")
    number = gone.pk
    gone.delete()

    answers = [
        admin_client.get(f"{LIST}{tail}")
        for tail in ("add/", f"add/?copy={row.pk}", f"{row.pk}/change/", f"{number}/change/")
    ]
    unknown = [admin_client.get(f"{LIST}{tail}/change/").status_code for tail in ("999", "x", "-1")]

    assert [(answer.status_code, answer["Location"]) for answer in answers] == [
        (302, new),
        (302, f"{new}?copy={row.pk}"),
        (302, f"{LIST}{row.pk}/studio/"),
        (302, f"{LIST}{number}/studio/"),
    ]
    assert "This application was deleted" in admin_client.get(answers[3]["Location"]).text
    assert unknown == [404, 404, 404]


def test_nothing_is_posted_to_the_addresses_of_a_form(admin_client):
    row = make_application()

    answers = [admin_client.post(LIST + tail.format(row=row), {"title": "Mine"}) for tail in FORMS]

    assert [(answer.status_code, answer["Allow"]) for answer in answers] == [(405, "GET, HEAD")] * 2
    assert [one.title for one in Application.objects.all()] == ["Travel"]


def test_the_addresses_of_a_form_are_for_those_who_open_the_studio():
    row = make_application()
    viewer = staff("view_application")
    stranger = browser_of(staff_account("stranger", "view_application"))
    nobody = browser_of(staff_account("nobody"))

    statuses = [
        [client.get(LIST + tail.format(row=row)).status_code for tail in FORMS]
        for client in (viewer, stranger, nobody)
    ]

    assert statuses == [[403, 302], [403, 404], [403, 403]]


def test_the_list_shows_models_of_old_and_odd_manifests(admin_client):
    make_application("old", manifest={"orchestrator": {"deployment": {"name": "old-name"}}})
    make_application("odd", manifest=["no manifest"])

    page = admin_client.get(f"{LIST}?o=3").text

    assert "old-name" in page


def test_many_are_disabled_at_once_and_noticed(admin_client):
    application = make_application()

    admin_client.post(LIST, {"action": "disable", "_selected_action": [application.pk]})

    application.refresh_from_db()
    assert (application.is_enabled, application.version) == (False, 2)


@each_row(
    ["typed", "line", "path", "said"],
    [
        ("{", 1, "", "not valid JSON"),
        ('{"orchestrator": \n  }', 2, "", "not valid JSON"),
        ("[" * 5000, 1, "", ""),
        ('{"a": 1, "a": 2}', 1, "", "occurs twice in one object"),
        (f'{{"orchestrator": {MODEL},\n"contexts": 3}}', 2, "contexts", "expected a list"),
        ("{}", 1, "orchestrator", "is missing"),
    ],
)
def test_the_check_of_a_text_answers_with_places(admin_client, typed, line, path, said):
    findings = admin_client.post(f"{LIST}check/", {"manifest": typed}).json()["findings"]

    assert said in findings[0]["message"]
    assert (findings[0]["severity"], findings[0]["line"], findings[0]["path"]) == (
        "error",
        line,
        path,
    )


def test_the_check_is_for_people_who_may_see_applications():
    client = browser_of(staff_account("staff"))

    assert client.post(f"{LIST}check/", {"manifest": "{}"}).status_code == 403
    assert client.get(f"{LIST}schema/").status_code == 403
    assert Client().post(f"{LIST}check/").status_code == 302


def test_the_list_tells_how_each_was_used_in_a_week_and_in_which_state_it_is(
    client, operator, django_assert_max_num_queries
):
    for number in range(60):
        make_application(f"app-{number:02}")
    row = make_application("a-first")
    ApplicationDraft.objects.create(application=row, title="First", manifest=row.manifest)
    for bucket, status in (("user-1", "failed"), ("user-1", "done"), ("key-1", "done")):
        RunSummary.objects.create(door="page", application="a-first", bucket=bucket, status=status)
    RunSummary.objects.create(
        door="studio", application="a-first", bucket="user-2", status="failed"
    )
    at = timezone.now() - timedelta(hours=1)
    store(model_call(application="a-first", started_at=at, cost=Decimal(2), currency="USD"))
    client.get(LIST)
    reset()

    with django_assert_max_num_queries(15):
        page = client.get(f"{LIST}?o=1")
    text = unescape(re.sub(r"<[^>]+>|\s+", " ", page.text))
    line = text[text.index("a-first") :][:200].split()

    assert "Live, changed" in " ".join(line)
    assert "2 2.00 USD 33.3%" in " ".join(line)
    states = {
        state: client.get(f"{LIST}?state={state}").context["cl"].result_count
        for state in ("live", "changed", "draft", "archived")
    }
    assert states == {"live": 60, "changed": 1, "draft": 0, "archived": 0}


def test_the_deletion_page_of_a_live_application_asks_to_archive_it_first(client, operator):
    row = make_application("travel")

    page = client.get(f"/admin/catalog/application/{row.pk}/delete/", follow=True)

    assert "Archive the application first." in page.text
    assert Application.objects.filter(pk=row.pk).exists()
