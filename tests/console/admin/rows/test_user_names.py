"""The names of users in the select inputs, filters and forms of the admin."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from apps.workspace.local.models import Secret
from tests.accounts.teams import make_team
from tests.catalog.rows import make_application

pytestmark = pytest.mark.django_db


@pytest.fixture
def anna() -> User:
    return User.objects.create_user("anna", first_name="Anna", last_name="Berg")


def test_a_search_for_users_finds_them_by_their_names_and_shows_these(
    admin_client: Client, anna: User
):
    User.objects.create_user("annabel")
    of_budgets = {"app_label": "insights", "model_name": "budget", "field_name": "user"}

    found = admin_client.get("/admin/autocomplete/", {"term": "ann", **of_budgets}).json()

    assert [one["text"] for one in found["results"]] == ["Anna Berg (anna)", "annabel"]


def test_a_search_for_other_rows_shows_their_own_texts(admin_client: Client):
    row = make_application("travel")
    of_budgets = {"app_label": "insights", "model_name": "budget", "field_name": "application"}

    found = admin_client.get("/admin/autocomplete/", {"term": "trav", **of_budgets}).json()

    assert found["results"] == [{"id": str(row.pk), "text": str(row)}]


def test_a_form_names_the_chosen_users(admin_client: Client, anna: User):
    team = make_team("crew", anna)
    team.administrators.add(anna)

    page = admin_client.get(f"/admin/accounts/team/{team.pk}/change/")

    assert f'<option value="{anna.pk}" selected>Anna Berg (anna)</option>' in page.text


def test_a_form_names_the_users_who_changed_a_row(admin_client: Client, anna: User):
    row = Secret.objects.create(name="KEY", created_by=anna, changed_by=anna)

    page = admin_client.get(f"/admin/workspace/secret/{row.pk}/change/")

    link = f'<a href="/admin/auth/user/{anna.pk}/change/" class="text-link">Anna Berg (anna)</a>'
    assert page.text.count(link) == 2


def test_a_filter_names_the_users_of_the_rows(admin_client: Client, anna: User):
    make_application("travel", owner=anna)

    page = admin_client.get("/admin/catalog/application/")

    [users] = [
        one
        for one in page.context["cl"].filter_specs
        if getattr(one, "lookup_kwarg", "") == "owner__id__exact"
    ]
    assert users.lookup_choices == [(anna.pk, "Anna Berg (anna)")]
