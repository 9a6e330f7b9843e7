"""An operator sees and edits only applications that they own or were granted."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.catalog.models import Application, Change, Grant, Role
from apps.catalog.versions.drafts import draft_of
from apps.insights.budgets.models import Budget
from apps.live.models import Run
from apps.live.run_summary import RunSummary
from apps.process_state import reset
from apps.workspace.local.models import Deployment, Secret
from tests.catalog.rows import make_application, make_deployment, manifest_with
from tests.console.pages import browser_of, permit
from tests.console.studio.asking import send
from tests.contract import proves
from tests.insights.calls import model_call, store

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

LIST = "/admin/catalog/application/"
API = "/api/applications/"


@pytest.fixture
def operator() -> User:
    user = User.objects.create_user("olga", is_staff=True)
    user.groups.add(Group.objects.get(name="operator"))
    make_deployment()
    return user


@pytest.fixture
def client(operator: User) -> Client:
    return browser_of(operator)


def grant(application: Application, user: User, role: Role) -> Application:
    Grant.objects.create(application=application, user=user, role=role)
    return application


def four(operator: User) -> list[Application]:
    """Return an owned application, one to edit, one to use, and one of others."""
    return [
        make_application("owned", owner=operator, is_shared=False),
        grant(make_application("edited", is_shared=False), operator, Role.EDITOR),
        grant(make_application("used", is_shared=False), operator, Role.USER),
        make_application("others", is_shared=True),
    ]


def typed(title: str) -> dict[str, Any]:
    """Return the studio's request for a new title."""
    base = {"title": "", "description": "", "icon": "", "manifest": manifest_with()}
    return {**base, "title": title, "version": 0, "base": base}


def statuses(client: Client, *urls: str) -> list[int]:
    return [client.get(url).status_code for url in urls]


@proves("operators")
def test_an_editor_saves_and_only_an_owner_archives(client, operator):
    owned, edited, used, _ = four(operator)

    saved = [send(client, row, "save", typed("Trips")).status_code for row in (owned, edited, used)]
    for row in (owned, edited, used):
        client.post(f"{LIST}{row.pk}/archive/")

    assert saved == [200, 200, 404]
    assert {
        row.slug: (draft_of(row).title, row.archived_at is None)
        for row in Application.objects.all()
    } == {
        "owned": ("Trips", False),
        "edited": ("Trips", True),
        "others": ("Others", True),
        "used": ("Used", True),
    }


def test_archiving_several_spares_those_of_others(client, operator):
    rows = four(operator)

    client.post(LIST, {"action": "archive_selected", "_selected_action": [row.pk for row in rows]})
    client.post(LIST, {"action": "disable", "_selected_action": [row.pk for row in rows]})

    assert {row.slug: row.is_enabled for row in Application.objects.all()} == {
        "owned": False,
        "edited": False,
        "used": True,
        "others": True,
    }


def test_what_was_deleted_is_seen_by_its_last_owner_alone(client, operator):
    owned, _, used, _ = four(operator)
    numbers = owned.pk, used.pk
    owned.delete()
    used.delete()

    page = client.get(f"{LIST}deleted/").text

    assert ("Owned" in page, "Used" in page) == (True, False)
    assert statuses(client, *(f"{LIST}{pk}/history/" for pk in numbers)) == [200, 404]
    change = Change.objects.get(object_id=numbers[1], what="deleted")
    restore = f"{LIST}{numbers[1]}/history/{change.pk}/restore/before/"
    assert statuses(client, restore) == [404]


@proves("operators")
def test_staff_edit_what_they_were_granted_without_any_permission():
    make_deployment("demo-model")
    emil = User.objects.create_user("emil", is_staff=True)
    client = browser_of(emil)
    before = client.get("/admin/").text
    _, edited, used, others = four(emil)
    studio = f"{LIST}{edited.pk}/studio/"

    index = client.get("/admin/").text
    saved = send(client, edited, "save", typed("Trips"))
    published = client.post(f"{studio}publish/", {"note": "Trips"}, "application/json")
    granted = client.post(
        f"{studio}grant/", {"kind": "user", "name": "emil", "role": "owner"}, "application/json"
    )
    choices = client.get(f"{studio}choices/").json()

    assert (LIST in before, LIST in index) == (False, True)
    assert "You don" not in index
    assert [row.slug for row in client.get(LIST).context["cl"].result_list] == ["edited", "owned"]
    assert [saved.status_code, published.status_code, granted.status_code] == [200, 403, 403]
    assert Application.objects.get(pk=edited.pk).draft.title == "Trips"
    assert [one["id"] for one in choices["deployments"]] == ["demo-model"]
    assert (choices["add"], [one["id"] for one in choices["applications"]]) == ({}, ["owned"])
    assert (
        statuses(
            client,
            studio,
            f"{LIST}{edited.pk}/versions/",
            f"{LIST}{edited.pk}/files/",
            f"{LIST}schema/",
        )
        == [200] * 4
    )
    assert statuses(
        client,
        f"{LIST}{used.pk}/studio/",
        f"{LIST}{others.pk}/studio/",
        "/admin/workspace/deployment/",
        "/admin/workspace/secret/",
        "/admin/catalog/contentitem/",
        f"{LIST}new/",
        f"{LIST}add/",
        f"{API}edited/",
    ) == [404, 404, 403, 403, 403, 403, 403, 403]
    Grant.objects.all().delete()
    Application.objects.update(owner=None)
    assert statuses(client, studio, LIST) == [404, 403]


@proves("operators")
def test_the_api_has_the_same_applications(client, operator):
    four(operator)
    names = ("owned", "edited", "used", "others", "none")

    listed = [one["slug"] for one in client.get(API).json()["results"]]
    edits = [
        client.patch(f"{API}{name}/", {"title": "New"}, "application/json").status_code
        for name in names
    ]
    deletions = [client.delete(f"{API}{name}/").status_code for name in names]

    assert listed == ["edited", "owned"]
    assert statuses(client, *(f"{API}{name}/" for name in names)) == [200, 200, 404, 404, 404]
    assert edits == [200, 200, 404, 404, 404]
    assert deletions == [204, 403, 404, 404, 404]


@proves("operators")
def test_the_editor_in_dial_has_the_same_applications(client, operator):
    four(operator)

    pages = [client.get(f"/dial/editor/?id={name}") for name in ("edited", "used", "none")]

    assert [page.templates[0].name for page in pages] == [
        "editor/editor.html",
        "editor/unavailable.html",
        "editor/unavailable.html",
    ]
    assert "Unknown application: &#x27;used&#x27;." in pages[1].text


def test_drafts_take_no_credentials_from_applications_of_others(client, operator):
    *_, others = four(operator)
    masked = {"manifest": '{"contexts": [{"type": "a", "key": {"$masked": 1}}]}'}

    answer = client.post(f"{LIST}check/?row={others.pk}", masked)

    assert answer.status_code == 200
    assert client.post(f"{LIST}preview/?row={others.pk}", masked).status_code == 200


@proves("operators")
def test_runs_are_those_of_the_applications_that_one_edits(client, operator):
    four(operator)
    for name in ("owned", "used", ""):
        RunSummary.objects.create(door="page", application=name, bucket="user-1", status="done")
        Run.objects.create(
            stream=uuid4(), request=uuid4(), application=name, bucket="user-1", status="waiting"
        )
    pages = ("/admin/runs/runsummary/", "/admin/runs/run/")

    found = [
        [row.application for row in client.get(url).context["cl"].result_list] for url in pages
    ]

    assert found == [["owned", "owned"], ["owned"]]
    hidden = RunSummary.objects.get(application="used")
    assert statuses(
        client,
        f"/admin/runs/runsummary/{hidden.pk}/change/",
        f"/admin/runs/runsummary/{hidden.pk}/requests/",
    ) == [302, 404]
    names = client.get(pages[0]).text
    assert "application=owned" in names
    assert "application=used" not in names


@proves("operators")
def test_usage_is_that_of_the_applications_that_one_edits(client, operator):
    four(operator)
    for name, cost in (("owned", "1"), ("used", "2")):
        priced = {"cost": Decimal(cost), "currency": "USD", "started_at": timezone.now()}
        store(model_call(application=name, deployment=f"of-{name}", **priced))

    pages = [
        client.get(f"/admin/insights/usagesum/?by={by}") for by in ("application", "deployment")
    ]

    lines = [[row[0].plain for row in page.context["table"].rows] for page in pages]
    assert lines == [["Owned"], ["of-owned"]]
    tiles = [{one.title: one.cell.plain for one in page.context["tiles"]} for page in pages]
    assert [one["Model calls"] for one in tiles] == [1, 1]


@proves("operators")
def test_the_audit_and_budgets_are_filtered_too(client, operator):
    owned, _, used, _ = four(operator)
    permit(operator, "view_auditentry", "view_budget", "add_budget")
    audit.record(AuditEvent("message.sent", "user-1", application="owned"))
    audit.record(AuditEvent("message.sent", "user-1", application="used"))
    for row in (owned, used, None):
        Budget.objects.create(
            subject_kind="application", application=row, amount=5, window="day", unit="tokens"
        )
    new = {"subject_kind": "application", "unit": "tokens", "amount": "7", "window": "month"}

    events = client.get("/admin/accounts/auditentry/").context["cl"].result_list
    budgets = client.get("/api/budgets/").json()["results"]
    made = [
        client.post("/api/budgets/", {**new, "subject": name}, "application/json")
        for name in ("owned", "used", "none", "")
    ]

    assert [event.application for event in events] == ["owned"]
    assert [budget["subject"] for budget in budgets] == ["owned"]
    assert [answer.status_code for answer in made] == [201, 400, 400, 400]
    unknown = [answer.json()["errors"][0]["message"] for answer in made[1:3]]
    assert unknown == ["Unknown application: 'used'.", "Unknown application: 'none'."]


@proves("operators")
def test_who_uses_a_secret_is_told_of_the_applications_that_one_edits(client, operator):
    secret = Secret.objects.create(name="crm", value="hush", servers=["crm.example"])
    server = {"url": "https://crm.example", "headers": {"X-Key": {"$secret": "crm"}}}
    manifest = manifest_with(tool_sets=[{"type": "rest", **server}])
    make_application("owned", owner=operator, manifest=manifest)
    make_application("others", manifest=manifest)

    page = client.get(f"/admin/workspace/secret/{secret.pk}/change/").text

    assert ("application Owned" in page, "application Others" in page) == (True, False)
    assert "that you cannot see" in page
    assert "hush" not in page


@proves("operators")
def test_keys_of_deployments_are_named_and_never_changed(client):
    row = make_deployment(
        "mine", provider="openai", base_url="https://a.example/v1", api_key="hush", display_name="A"
    )
    place = f"/admin/workspace/deployment/{row.pk}/change/"
    page = client.get(place)
    typed = {
        "deployment_id": "mine",
        "display_name": "B",
        "kind": "chat",
        "provider": "openai",
        "base_url": "https://a.example/v1",
        "new_api_key": "mine",
        "clear_api_key": "on",
        "api_key_env": "OPENAI_API_KEY",
        "features": "{}",
        "parameters": "{}",
        "input_attachment_types": "[]",
        "prices-TOTAL_FORMS": "0",
        "prices-INITIAL_FORMS": "0",
    }

    client.post(place, typed)
    saved = Deployment.objects.get(pk=row.pk)
    moved = client.post(place, {**typed, "base_url": "https://evil.example/v1"})

    assert not {"new_api_key", "api_key_env"} & {*page.context["adminform"].form.fields}
    assert "hush" not in page.text
    assert (saved.display_name, saved.api_key, saved.api_key_env) == ("B", "hush", "")
    assert "base_url" in moved.context["adminform"].form.errors
    url = f"/api/deployments/{row.deployment_id}/"
    sent = [
        {"description": "x"},
        {"api_key": "mine"},
        {"api_key_env": "OPENAI_API_KEY"},
        {"takes_personal_keys": True},
        {"base_url": "https://evil.example/v1"},
    ]
    answers = [client.patch(url, body, "application/json").status_code for body in sent]
    assert answers == [200, 400, 400, 400, 400]
    assert Deployment.objects.get(pk=row.pk).api_key == "hush"


@pytest.mark.parametrize("permission", ["access_all_applications", "see_all_applications"])
def test_a_permission_shows_all(client, operator, permission):
    rows = four(operator)
    permit(operator, permission)

    found = client.get(LIST).context["cl"].result_list

    assert {row.slug for row in found} == {row.slug for row in rows}
    trial = f"{LIST}{rows[3].pk}/studio/tools/trial/"
    body = {"manifest": rows[3].manifest, "place": "all"}
    answer = client.post(trial, body, "application/json")
    assert answer.status_code == (200 if permission.startswith("access") else 403)


@pytest.mark.usefixtures("nothing_expires")
def test_a_list_asks_no_more_for_more_applications(client, operator):
    four(operator)
    client.get(LIST)  # records where the session is used
    reset()
    with CaptureQueriesContext(connection) as few:
        client.get(LIST)
    for number in range(10):
        make_application(f"more-{number}", owner=operator)
    reset()
    with CaptureQueriesContext(connection) as many:
        client.get(LIST)

    assert len(many) == len(few)
