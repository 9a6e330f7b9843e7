"""Roles in an application, granted in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers
from tests.sites.serving import Site

FILL = """
from django.contrib.auth.models import Group, User
User.objects.get_or_create(username="anna")
Group.objects.get_or_create(name="Sales")
row, _ = Application.objects.get_or_create(slug="granted", defaults={"title": "Granted"})
row.grants.all().delete()
result = row.pk
"""


@pytest.mark.slow("a walk through several pages in a browser")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)], ids=str)
def test_an_owner_grants_roles_and_mends_a_mistake(admin_page: Page, site: Site, scheme, width):
    page, pk = admin_page, site.shell(FILL)
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.set_default_timeout(60_000)
    page.goto(f"/admin/catalog/application/{pk}/studio/#access")

    search = page.get_by_label("Add a user, group or team")
    search.fill("nobody")
    expect(page.get_by_text("No match.")).to_be_visible()
    assert barriers(page) == []
    search.fill("anna")
    page.get_by_label("Role", exact=True).select_option("Editor")
    page.get_by_role("button", name="Add: anna").click()

    expect(page.get_by_label("Role of anna")).to_have_value("editor")
    assert barriers(page) == []
    page.goto("/admin/catalog/application/?q=granted")
    expect(page.get_by_text("1 person")).to_be_visible()
    assert barriers(page) == []
