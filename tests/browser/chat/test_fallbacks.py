"""The fallbacks of a deployment are selected and ordered with the keyboard only."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers
from tests.sites.serving import Site

PREPARE = """
from apps.workspace.local.models import Deployment
rows = [
    Deployment.objects.create(deployment_id=f"chosen-{number}", display_name=name, provider="demo")
    for number, name in enumerate(("First", "Second", "Third"))
]
Deployment.objects.filter(deployment_id="chosen-2").update(is_enabled=False)
result = rows[0].pk
"""
STORED = """
from apps.workspace.local.models import Deployment
result = Deployment.objects.get(deployment_id="chosen-0").fallbacks
"""


@pytest.mark.slow("uses several pages in a browser")
def test_fallbacks_are_added_moved_and_removed_by_keyboard_alone(admin_page: Page, site: Site):
    page, keys = admin_page, admin_page.keyboard
    pk = site.shell(PREPARE)
    page.goto(f"/admin/workspace/deployment/{pk}/change/")
    search = page.get_by_label("Fallbacks", exact=True)
    place = page.locator("[data-fallbacks]")
    entries, status = place.get_by_role("listitem"), place.get_by_role("status")

    search.focus()
    for typed in ("chosen-1", "third"):
        keys.type(typed)
        keys.press("Enter")
    expect(entries).to_have_text([re.compile("Second"), re.compile("Third.*skipped: disabled")])
    keys.type("nobody")
    keys.press("Enter")
    expect(status).to_have_text("Unknown chat model: nobody.")
    keys.press("Control+A")
    keys.type("Second")
    keys.press("Enter")
    expect(status).to_have_text("Second is already in the list.")
    keys.press("Control+A")
    keys.press("Delete")
    page.get_by_role("button", name="Move Third up").focus()
    keys.press("Enter")
    expect(status).to_have_text("Third is now number 1.")
    expect(page.get_by_role("button", name="Move Third down")).to_be_focused()
    expect(entries).to_have_text([re.compile("Third"), re.compile("Second")])
    assert barriers(page) == []
    page.set_viewport_size({"width": 390, "height": 800})
    assert barriers(page) == []
    with page.expect_navigation():
        page.get_by_role("button", name="Save and continue editing").click()
    assert site.shell(STORED) == ["chosen-2", "chosen-1"]

    page.get_by_role("button", name="Remove Third").focus()
    keys.press("Enter")
    expect(page.get_by_role("button", name="Remove Second")).to_be_focused()
    with page.expect_navigation():
        page.get_by_role("button", name="Save", exact=True).click()
    assert site.shell(STORED) == ["chosen-1"]


def test_what_was_typed_and_not_added_is_saved_too(admin_page: Page, site: Site):
    page = admin_page
    code = "from apps.workspace.local.models import Deployment\n"
    pk = site.shell(
        code + 'result = Deployment.objects.create(deployment_id="typed-0", display_name="Typed", '
        'provider="demo").pk\nDeployment.objects.create(deployment_id="typed-1", '
        'display_name="Other", provider="demo")'
    )
    page.goto(f"/admin/workspace/deployment/{pk}/change/")
    page.get_by_label("Fallbacks", exact=True).fill("typed-1")
    with page.expect_navigation():
        page.get_by_role("button", name="Save", exact=True).click()

    stored = site.shell(code + 'result = Deployment.objects.get(deployment_id="typed-0").fallbacks')
    assert stored == ["typed-1"]
