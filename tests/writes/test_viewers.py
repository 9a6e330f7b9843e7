"""Pages of the admin for staff who can only view rows of one kind."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import DateTimeField
from django.test import Client
from django.urls import reverse

from apps.catalog.models import Application
from apps.workspace.local.models import McpServer
from tests.console.pages import browser_of, staff_account
from tests.writes.admin import ROWS
from tests.writes.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

UNLIKE = {Application: 302, McpServer: 403}
"""Applications open in the studio. Programs on the machine of the site need more rights."""
LAST, FIRST = "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"
"""Dates that Python cannot convert to UTC."""


def viewer(model: type[Any]) -> Client:
    name = model._meta.model_name
    user: User = staff_account(f"{name}-viewer", f"view_{name}", "see_all_applications")
    return browser_of(user)


def page_of(model: type[Any], page: str, *arguments: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=arguments)


@pytest.mark.slow("opens the page of a row of each kind")
def test_staff_who_may_only_view_rows_can_open_the_page_of_each(world: World):
    statuses = {
        model: viewer(model).get(page_of(model, "change", getattr(world, attribute).pk)).status_code
        for model, (attribute, _, _) in ROWS.items()
    }

    assert statuses == dict.fromkeys(ROWS, 200) | UNLIKE


@pytest.mark.slow("opens the list of each kind with several filters")
def test_a_date_that_no_database_has_is_a_wrong_filter_of_each_list(admin_client: Any):
    asked = [
        (page_of(model, "changelist"), f"{field.name}__{name}", beyond)
        for model in admin.site._registry
        for field in model._meta.fields
        if isinstance(field, DateTimeField)
        for name, beyond in (("lt", LAST), ("gte", FIRST))
    ]

    statuses = {one: admin_client.get(one[0], {one[1]: one[2]}).status_code for one in asked}

    # A lookup that a list does not allow is a bad request.
    assert {one: status for one, status in statuses.items() if status not in (200, 302, 400)} == {}
    assert len(statuses) > len(ROWS)
