from __future__ import annotations

import json
import re
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from apps.catalog.models import Application, ApplicationDraft, empty_manifest
from apps.console.admin import application_figures
from apps.live.run_summary import RunSummary
from tests.catalog.rows import make_application, make_deployment, make_operator, manifest_with
from tests.console.pages import browser_of, signed_in, staff, staff_account
from tests.contract import proves
from tests.insights.calls import model_call, store

pytestmark = pytest.mark.django_db

LIST = "/admin/catalog/application/"
ADD = f"{LIST}add/"


@pytest.fixture
def admin_client() -> Client:
    make_deployment("demo-model")
    return signed_in()


def change_url(application: Application) -> str:
    return f"{LIST}{application.pk}/change/"


def fields(**changes: str) -> dict[str, str]:
    valid = {
        "title": "Travel",
        "slug": "travel",
        "description": "",
        "manifest": json.dumps(empty_manifest()),
        "is_enabled": "on",
        "owner": "",
    }
    return {**valid, **changes}


def test_an_application_is_created(admin_client):
    answer = admin_client.post(ADD, fields())

    assert (answer.status_code, answer["Location"]) == (302, LIST)
    assert Application.objects.get().manifest == empty_manifest()


@proves("R-01")
@pytest.mark.parametrize("limit", [7, 0])
def test_r_01_the_limit_of_other_systems_is_stored_as_ours_and_is_not_zero(admin_client, limit):
    manifest = empty_manifest()
    manifest["orchestrator"]["maxIterations"] = limit

    answer = admin_client.post(ADD, fields(manifest=json.dumps(manifest)))

    stored = [
        row.manifest["orchestrator"].get("max_iterations") for row in Application.objects.all()
    ]
    assert stored == ([limit] if limit else [])
    told = "orchestrator.max_iterations" in answer.text
    assert told is not bool(limit)


@pytest.mark.parametrize(
    ("typed", "place"),
    [
        ('{"orchestrator": \n  }', "line 2"),
        ('{"orchestrator": {"deployment": {"deployment_id": "x"}}, "contexts": 3}', "contexts"),
        ("[" * 5000, "line 1"),
        ('{"a": 1, "a": 2}', "stands twice"),
        ("{}", "orchestrator"),
    ],
)
def test_a_broken_manifest_is_not_saved_and_comes_back_as_typed(admin_client, typed, place):
    answer = admin_client.post(ADD, fields(manifest=typed, title="Kept title"))

    page = answer.text
    assert (answer.status_code, Application.objects.count()) == (200, 0)
    assert answer.context["adminform"].form["manifest"].value() == typed
    assert 'value="Kept title"' in page
    assert place in page
    assert "Nothing was saved." in page


def test_a_mistake_elsewhere_keeps_the_manifest_as_typed(admin_client):
    typed = '{"orchestrator":{"deployment":{"deployment_id":"demo-model"}},\n"odd":1}'

    answer = admin_client.post(ADD, fields(slug="", manifest=typed))

    assert answer.context["adminform"].form["manifest"].value() == typed


def test_a_form_says_at_the_owner_that_only_they_attach_their_files(admin_client):
    anna = make_operator("anna")
    own = {"type": "file", "url": f"files/user-{anna.pk}/notes.txt"}
    manifest = json.dumps(manifest_with(contexts=[own]))

    refused = admin_client.post(ADD, fields(owner=str(anna.pk), manifest=manifest))
    nobody_s = admin_client.post(ADD, fields(manifest=manifest))
    admin_client.force_login(anna)
    by_anna = admin_client.post(
        change_url(Application.objects.get()), fields(owner=str(anna.pk), manifest=manifest)
    )

    errors = refused.context["adminform"].form.errors
    assert list(errors) == ["owner"]
    assert "Only they can attach those" in str(errors["owner"])
    assert (nobody_s.status_code, by_anna.status_code) == (302, 302)


def test_warnings_are_told_after_saving(admin_client):
    typed = manifest_with(orchestrator={"deployment": {"deployment_id": "demo-modl"}})

    answer = admin_client.post(ADD, fields(manifest=json.dumps(typed)), follow=True)

    assert "did you mean &#x27;demo-model&#x27;?" in answer.text
    assert Application.objects.count() == 1


def test_a_stored_manifest_that_became_invalid_shows_its_mistakes(admin_client):
    application = make_application(manifest={"orchestrator": 1})

    page = admin_client.get(change_url(application)).text

    assert 'data-path="orchestrator"' in page


def test_a_change_that_nobody_saw_is_not_overwritten(admin_client):
    application = make_application()
    application.save()

    stale = admin_client.post(change_url(application), fields(title="Mine", seen_version="1"))

    assert "Somebody saved this application" in stale.text
    assert stale.context["adminform"].form["seen_version"].value() == 2
    assert Application.objects.get().title == "Travel"

    again = admin_client.post(change_url(application), fields(title="Mine", seen_version="2"))
    assert (again.status_code, Application.objects.get().title) == (302, "Mine")


def test_a_clone_starts_with_everything_but_its_name(admin_client):
    original = make_application(description="About", manifest=manifest_with(odd=1), is_public=True)
    make_application("travel-copy")

    form = admin_client.get(f"{ADD}?copy={original.pk}").context["adminform"].form

    assert {name: form[name].value() for name in ("title", "slug", "description")} == {
        "title": "Travel (copy)",
        "slug": "travel-copy-2",
        "description": "About",
    }
    assert json.loads(form["manifest"].value()) == original.manifest
    assert form["is_public"].value() is True


@pytest.mark.parametrize("copied", ["999", "abc", ""])
def test_a_clone_of_nothing_is_an_empty_form(admin_client, copied):
    form = admin_client.get(f"{ADD}?copy={copied}").context["adminform"].form

    assert form["title"].value() in (None, "")


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


def test_the_check_answers_with_places(admin_client):
    answer = admin_client.post(f"{LIST}check/", {"manifest": "{"})

    [finding] = answer.json()["findings"]
    assert (finding["severity"], finding["line"], finding["column"]) == ("error", 1, 2)


def test_the_check_is_for_people_who_may_see_applications():
    client = browser_of(staff_account("staff"))

    assert client.post(f"{LIST}check/", {"manifest": "{}"}).status_code == 403
    assert client.get(f"{LIST}schema/").status_code == 403
    assert Client().post(f"{LIST}check/").status_code == 302


def test_people_who_may_only_look_see_the_page():
    answer = staff("view_application").get(change_url(make_application()))

    assert answer.status_code == 200
    assert b"demo-model" in answer.content


def test_the_list_tells_how_each_was_used_in_a_week_and_in_which_state_it_is(
    client, operator, django_assert_max_num_queries
):
    for number in range(60):
        make_application(f"app-{number:02}")
    row = make_application("a-first")
    ApplicationDraft.objects.create(application=row, title="First", manifest=row.manifest)
    for bucket, status in (("user-1", "failed"), ("user-1", "done"), ("key-1", "done")):
        RunSummary.objects.create(door="page", application="a-first", bucket=bucket, status=status)
    at = timezone.now() - timedelta(hours=1)
    store(model_call(application="a-first", started_at=at, cost=Decimal(2), currency="USD"))
    client.get(LIST)
    application_figures.forget()

    with django_assert_max_num_queries(15):
        page = client.get(f"{LIST}?o=2")
    text = unescape(re.sub(r"<[^>]+>|\s+", " ", page.text))
    line = text[text.index("a-first") :][:200].split()

    assert "Live, changed" in " ".join(line)
    assert "2 2.00 USD 33.3%" in " ".join(line)
    states = {
        state: client.get(f"{LIST}?state={state}").context["cl"].result_count
        for state in ("live", "changed", "draft", "archived")
    }
    assert states == {"live": 60, "changed": 1, "draft": 0, "archived": 0}
