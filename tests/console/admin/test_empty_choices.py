"""Select inputs of the admin say what to choose, and pages omit what does not exist yet."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models.fields import BLANK_CHOICE_DASH

from apps.console.admin.theme import empty_choice

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
