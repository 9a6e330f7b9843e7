"""Select inputs of the admin say what to choose, and pages omit what does not exist yet."""

from __future__ import annotations

from re import findall
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models.fields import BLANK_CHOICE_DASH

from apps.accounts.models import ServiceAccount
from apps.catalog.models import Grant, Role
from apps.console.admin.theme import empty_choice
from tests.catalog.rows import make_application
from tests.console.pages import browser_of, staff_account, words

pytestmark = pytest.mark.django_db


def test_no_form_offers_a_line_of_dashes(rf):
    request = rf.get("/admin/")
    request.user = User.objects.create_superuser("root")
    request.session = {}

    found = [
        (model.__name__, name)
        for model, page in admin.site._registry.items()
        if page.has_add_permission(request)
        for name, field in forms_of(page, request)
        if BLANK_CHOICE_DASH[0] in list(getattr(field, "choices", ()))
    ]

    assert found == []


def forms_of(page: Any, request: Any) -> Any:
    yield from page.get_form(request).base_fields.items()
    for inline in page.get_inline_instances(request):
        yield from inline.get_formset(request).form.base_fields.items()


def test_an_empty_choice_says_what_to_choose():
    assert empty_choice("application", is_required=True) == "Choose an application"
    assert empty_choice("user", is_required=True) == "Choose a user"
    assert empty_choice("team", is_required=False) == "None"


def test_required_pickers_without_rows_link_to_the_page_that_adds_one(admin_client):
    pages = {
        page: words_of_links(admin_client.get(page).text)
        for page in (
            *("/admin/schedules/schedule/add/", "/admin/triggers/webhook/add/"),
            *("/admin/cases/case/add/", "/admin/insights/price/add/"),
        )
    }

    application = ("No applications yet.", "/admin/catalog/application/new/")
    account = ("No service accounts yet.", "/admin/accounts/serviceaccount/add/")
    assert pages == {
        "/admin/schedules/schedule/add/": [application, account],
        "/admin/triggers/webhook/add/": [application, account],
        "/admin/cases/case/add/": [application],
        "/admin/insights/price/add/": [("No deployments yet.", "/admin/workspace/deployment/add/")],
    }


def words_of_links(page: str) -> list[tuple[str, str]]:
    return findall(r'(No [a-z ]+\.) <a class="[^"]*" href="([^"]*)">Create one</a>', page)


def test_an_empty_picker_refers_users_who_may_not_add_a_row_to_an_administrator():
    ServiceAccount.objects.create(user=User.objects.create_superuser("robot"))
    own = make_application("own")
    operator = staff_account("vera", "view_schedule", "add_schedule")
    Grant.objects.create(application=own, user=operator, role=Role.EDITOR)

    page = words(browser_of(operator).get("/admin/schedules/schedule/add/"))

    assert "No applications" not in page
    assert (
        "No service accounts that you can choose. Ask an administrator to create one."
        "Each run uses this account" in page
    )


def test_a_page_shows_only_what_there_is(admin_client):
    user = User.objects.create_user("ben")
    user.groups.create(name="Readers")

    secret = admin_client.get("/admin/workspace/secret/add/").text
    budgets = admin_client.get("/admin/insights/budget/").text
    users = admin_client.get("/admin/auth/user/").text
    deleted = admin_client.get(f"/admin/auth/user/{user.pk}/delete/").text

    assert "field-state" not in secret
    assert ('role="search"' in budgets, 'role="search"' in users) == (False, True)
    assert "list-found" not in users
    assert "relationship" not in deleted
