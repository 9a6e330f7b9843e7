from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import AuditEntry
from apps.catalog.grants import grants_of
from apps.catalog.models import Application, Grant, Role
from apps.console.admin.application_figures import forget as forget_figures
from tests.catalog.rows import make_application, make_deployment
from tests.console.admin.test_applications import LIST, change_url, fields
from tests.console.pages import signed_in, staff_account
from tests.contract import proves

pytestmark = pytest.mark.django_db


@pytest.fixture
def application() -> Application:
    make_deployment("demo-model")
    User.objects.create_user("anna")
    Group.objects.create(name="Sales")
    return make_application("travel", is_shared=False)


@pytest.fixture
def client(application) -> Client:
    return signed_in()


def rows(*typed: dict[str, Any], stored: int = 0) -> dict[str, str]:
    counts = {"grants-TOTAL_FORMS": len(typed), "grants-INITIAL_FORMS": stored}
    cells = {
        f"grants-{number}-{name}": value
        for number, row in enumerate(typed)
        for name, value in ({"user": "", "group": "", "role": 1} | row).items()
    }
    return fields(**{name: str(value) for name, value in (counts | cells).items()})


def texts(page: Any) -> str:
    return str(page.text)


def audited() -> list[tuple[str, str, str]]:
    found = AuditEntry.objects.filter(event__in=("access.granted", "access.revoked"))
    return list(found.order_by("pk").values_list("event", "actor", "subject"))


@proves("access")
def test_roles_are_granted_changed_and_revoked_by_names_and_that_is_audited(client, application):
    operator = User.objects.get(username="operator")
    client.post(change_url(application), rows({"user": "anna"}, {"group": "Sales", "role": 2}))
    anna, sales = Grant.objects.order_by("pk")
    stored = (
        {"id": sales.pk, "group": "Sales", "role": 3},
        {"id": anna.pk, "user": "anna", "DELETE": "on"},
    )

    page = texts(client.get(change_url(application)))
    answer = client.post(change_url(application), rows(*stored, stored=2))

    assert answer.status_code == 302
    assert ('value="anna"' in page, 'value="Sales"' in page) == (True, True)
    assert grants_of(application) == {("group", "Sales"): Role.OWNER}
    actor = f"user-{operator.pk}"
    assert audited() == [
        ("access.granted", actor, "editor: group Sales"),
        ("access.granted", actor, "user: user anna"),
        ("access.granted", actor, "owner: group Sales"),
        ("access.revoked", actor, "user: user anna"),
    ]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"user": "nobody"}, "There is nobody with this username."),
        ({"group": "None"}, "There is no such group."),
        ({"user": "anna", "group": "Sales"}, "Choose a person or a group."),
        ({"role": 3}, "Choose a person or a group."),
        ({"user": "anna", "role": 9}, "is not one of the available choices"),
    ],
)
def test_a_bad_grant_loses_nothing_of_what_was_typed(client, application, typed, told):
    sent = rows({"group": "Sales"}, typed) | {"title": "Journeys"}

    page = texts(client.post(change_url(application), sent))

    assert told in page
    assert ('value="Journeys"' in page, 'value="Sales"' in page) == (True, True)
    assert all(f'value="{name}"' in page for name in typed.values() if isinstance(name, str))
    assert (grants_of(application), Application.objects.get().title) == ({}, "Travel")


def test_a_grant_that_somebody_removed_meanwhile_is_told_and_left_out(client, application):
    kept = Grant.objects.create(application=application, group=Group.objects.get(name="Sales"))
    stored = {"id": kept.pk, "group": "Sales", "role": 2}
    sent = rows({"id": 99, "user": "anna"}, stored, stored=2)

    refused = client.post(change_url(application), sent)
    formset = refused.context["inline_admin_formsets"][0].formset

    assert "Somebody removed these grants meanwhile: anna." in texts(refused)
    assert [form.instance for form in formset.initial_forms] == [kept]
    saved = client.post(change_url(application), rows(stored, stored=1))
    assert (saved.status_code, grants_of(application)) == (302, {("group", "Sales"): Role.EDITOR})


def test_a_grant_that_two_remove_is_no_mistake(client, application):
    gone = {"id": 99, "user": "anna", "DELETE": "on"}

    answer = client.post(change_url(application), rows(gone, {"user": "anna"}, stored=1))

    assert (answer.status_code, grants_of(application)) == (302, {("user", "anna"): Role.USER})


def test_a_new_application_is_granted_with_its_first_save(client):
    sent = rows({"user": "anna", "role": 2}) | {"slug": "new", "title": "New"}

    answer = client.post(f"{LIST}add/", sent)

    made = Application.objects.get(slug="new")
    assert (answer.status_code, grants_of(made)) == (302, {("user", "anna"): Role.EDITOR})
    assert (made.is_public, made.is_shared) == (False, False)


@proves("access")
def test_for_editors_who_may_use_it_is_to_be_read_only(client, application):
    names = ("view_application", "change_application", "publish_application")
    editor = staff_account("editor", *names)
    Grant.objects.create(application=application, user=editor, role=Role.EDITOR)
    client.force_login(editor)
    before = grants_of(application)

    page = texts(client.get(change_url(application)))
    sent = rows({"user": "anna", "role": 3}) | {"is_public": "on", "title": "Journeys"}
    answer = client.post(change_url(application), sent)

    application.refresh_from_db()
    assert 'name="grants-0-user"' not in page
    assert 'name="is_public"' not in page
    assert (answer.status_code, application.title) == (302, "Journeys")
    assert (application.is_public, grants_of(application), audited()) == (False, before, [])


def number_of(queries: Iterable[dict[str, str]]) -> int:
    """Without the look whether predefined content has changed, which is due every few seconds."""
    return sum("catalog_contentitem" not in query["sql"] for query in queries)


def test_the_list_says_for_whom_each_one_is_in_the_same_queries(client, application):
    anna, sales = User.objects.get(username="anna"), Group.objects.get(name="Sales")
    client.get(LIST)  # what is kept from now on is no part of the count
    forget_figures()
    with CaptureQueriesContext(connection) as few:
        client.get(LIST)
    for number in range(20):
        row = make_application(f"more-{number}", is_shared=False)
        Grant.objects.create(application=row, user=anna)
        Grant.objects.create(application=row, group=sales)
    make_application("everybody", is_public=True)
    make_application("members")

    forget_figures()
    with CaptureQueriesContext(connection) as many:
        answer = client.get(LIST)

    rows = answer.context["cl"].result_list
    said = {row.slug: answer.context["cl"].model_admin.for_whom(row) for row in rows}
    assert number_of(many) == number_of(few)
    assert {said[slug] for slug in said if slug.startswith("more")} == {"1 person, 1 group"}
    assert (said["everybody"], said["members"]) == ("everybody", "everybody signed in")
    assert said["travel"] == "its owner only"


def test_the_form_takes_the_same_queries_however_many_grants_there_are(client, application):
    def count() -> int:
        with CaptureQueriesContext(connection) as made:
            client.get(change_url(application))
        return number_of(made)

    Grant.objects.create(application=application, group=Group.objects.get(name="Sales"))
    client.get(change_url(application))
    few = count()
    users = User.objects.bulk_create(User(username=f"person-{number}") for number in range(20))
    Grant.objects.bulk_create(Grant(application=application, user=user) for user in users)

    assert count() == few
