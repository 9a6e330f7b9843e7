"""The first steps that an administrator of a new installation sees on the home page."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts.preferences import Preferences
from apps.catalog.actions import create
from apps.catalog.models import Application
from apps.conversations.models import Conversation
from tests.catalog.rows import make_application, make_deployment, make_operator, manifest_with

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def browser_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def admin() -> Client:
    """The browser of the administrator of an installation with the demo only."""
    make_deployment()
    make_application("demo", imported_hash="x" * 64, is_public=True)
    return browser_of(make_operator())


def steps_of(client: Client) -> list[tuple[str, bool, str]]:
    """Return the name, state and link of each step on the home page."""
    return [(one.name, one.is_done, one.link) for one in client.get("/").context["tour"]]


def stored_tour() -> list[str]:
    return list(Preferences.objects.values_list("tour", flat=True))


def queries_of(client: Client) -> list[str]:
    """Return the home page's queries about the steps; others depend on what a process caches."""
    with CaptureQueriesContext(connection) as found:
        client.get("/")
    return [one["sql"] for one in found if '"workspace_deployment"' in one["sql"]]


ADD_MODEL = "/admin/workspace/deployment/add/?next=application"
NEW = "/admin/catalog/application/new/"


def test_a_new_installation_has_three_open_steps(admin):
    assert steps_of(admin) == [
        ("model", False, ADD_MODEL),
        ("application", False, NEW),
        ("conversation", False, ""),
    ]
    assert 'action="/tour/"' in admin.get("/").text


def test_each_step_is_done_once_its_result_exists_and_the_tour_ends_with_the_last_one(admin):
    make_deployment("gpt", provider="openai")
    row = Application(slug="travel", title="Travel", manifest=manifest_with())
    create.execute(row, None)
    drafted = steps_of(admin)
    row.delete()
    row = make_application("trips")
    published = steps_of(admin)
    Conversation.objects.create(application=row, owner="user-1", title="Hi")
    ended = steps_of(admin)
    Conversation.objects.all().delete()

    studio = f"/admin/catalog/application/{row.pk - 1}/studio/"
    assert drafted == [
        ("model", True, ADD_MODEL),
        ("application", False, studio),
        ("conversation", False, ""),
    ]
    assert [one[1] for one in published] == [True, True, False]
    assert published[2] == ("conversation", False, "/chat/trips/")
    assert (ended, steps_of(admin), stored_tour()) == ([], [], ["ended"])


def test_a_skipped_tour_never_returns(admin):
    answer = admin.post("/tour/")

    assert answer["Location"] == "/"
    assert (steps_of(admin), stored_tour()) == ([], ["ended"])


def test_a_user_can_do_without_another_model_than_the_demo(admin):
    admin.post("/tour/", {"step": "model"})

    assert [one[:2] for one in steps_of(admin)] == [
        ("model", True),
        ("application", False),
        ("conversation", False),
    ]


@pytest.mark.parametrize("kind", ["visitor", "user", "old administrator"])
def test_nobody_else_sees_the_tour(admin: Client, kind: str):
    client = Client()
    if kind == "user":
        client = browser_of(User.objects.create_user("ann"))
    if kind == "old administrator":
        old = make_operator("old")
        old.date_joined = timezone.now() - timedelta(days=31)
        old.save()
        client = browser_of(old)

    page = client.get("/")

    assert (page.context["tour"], "tour-heading" in page.text) == ([], False)
    assert stored_tour() == []


def test_signed_out_visitors_cannot_skip(client: Any):
    assert client.post("/tour/")["Location"].startswith("/accounts/login/")
    assert Client(enforce_csrf_checks=True).post("/tour/").status_code == 403


def test_the_tour_takes_one_query_until_it_ends_and_none_of_other_users(admin):
    user = browser_of(User.objects.create_user("ann"))
    for client in (admin, user):  # the process then knows the deployments
        client.get("/")

    before, others = queries_of(admin), queries_of(user)
    admin.post("/tour/")
    after = queries_of(admin)

    assert (len(before) - len(others), len(after) - len(others)) == (1, 0)


def test_an_installation_without_applications_shows_the_tour(admin):
    Application.objects.all().delete()

    page = admin.get("/")

    assert "No apps yet" in page.text
    assert [one.name for one in page.context["tour"]] == ["model", "application", "conversation"]
