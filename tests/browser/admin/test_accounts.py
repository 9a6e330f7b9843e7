"""Administrators view accounts and service accounts in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers
from tests.sites.serving import Site

MAKE = """
from django.contrib.auth.models import Group, User
from apps.accounts.models import Team
from apps.catalog.models import Application, Grant
ann = User.objects.create_user("ann")
crew, guides = Group.objects.create(name="Crew"), Group.objects.create(name="Guides")
Team.objects.create(group=crew)
ann.groups.set([crew, guides, Group.objects.get(name="auditor")])
for slug, title, group in (("trips", "Trips", crew), ("tours", "Tours", guides)):
    row = Application.objects.create(slug=slug, title=title, description=f"About {title}.")
    Grant.objects.create(application=row, group=group, role=2)
Application.objects.create(slug="mine", title="Mine", owner=ann, is_shared=True)
result = ann.pk
"""


@pytest.fixture(scope="module")
def ann(site: Site) -> int:
    number: int = site.shell(MAKE)
    return number


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.slow("uses several pages in a browser")
def test_the_page_of_a_user_and_what_they_see_can_be_read_by_all(
    admin_page: Page, ann: int, width: int, scheme: str
):
    page = admin_page
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(f"/admin/auth/user/{ann}/change/")
    section = page.get_by_role("region", name="Applications that the account can use, and why")

    expect(section.get_by_role("row").filter(has_text="Trips")).to_contain_text("to the team Crew")
    expect(section).to_contain_text("As a member of auditor")
    found = barriers(page)
    page.get_by_role("link", name="What ann sees").click()
    expect(page.get_by_role("heading", name="What ann sees")).to_be_visible()
    expect(page.get_by_role("table")).not_to_contain_text("Trips")
    page.get_by_role("link", name="Crew").click()
    expect(page.get_by_role("table")).to_contain_text("Trips")
    found += barriers(page)

    assert found == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_service_account_is_made_and_gets_a_key(admin_page: Page):
    page = admin_page
    page.goto("/admin/accounts/serviceaccount/add/")
    page.get_by_label("Username").fill("nightly")
    page.get_by_label("Description").fill("Sums up.")
    page.locator("#id_groups + .select2").get_by_role("searchbox").fill("audit")
    page.get_by_role("option", name="auditor").click()
    found = barriers(page)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_role("button", name="Save and continue editing").click()

    expect(page.get_by_role("link", name="Create key")).to_be_visible()
    page.get_by_role("link", name="Create key").click()
    page.locator("input[name=name]").fill("For nights")
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.locator("#created-key")).to_be_visible()
    assert found == []
