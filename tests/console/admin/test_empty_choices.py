"""Select inputs of the admin say what to choose."""

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
