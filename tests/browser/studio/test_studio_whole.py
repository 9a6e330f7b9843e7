"""The studio of an application as a whole: its fields, text and name, and the view for viewers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import ADMIN, barriers, barriers_of_looks, watch
from tests.sites.serving import Site

NEXT = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"

pytestmark = [
    pytest.mark.usefixtures("demo_model"),
    pytest.mark.slow("a walk through several pages in a browser"),
]

ROWS = """
from django.contrib.auth.models import Permission, User
from tests.catalog.rows import store_application
from apps.catalog.actions import save_draft

manifest = {
    "orchestrator": {
        "deployment": {"deployment_id": "demo-model"}, "max_iterations": 0,
        "system_prompt": {"type": "custom", "content": "Be kind.", "variables": {}},
    },
    "contexts": [], "tool_sets": [], "odd": {"deep": 1},
}
row = store_application(slug="whole", title="Whole")
save_draft.execute(row, {"manifest": manifest}, None, None)
viewer = User.objects.create_user("viewer-of-whole", "", password, is_staff=True)
names = ("view_application", "see_all_applications")
viewer.user_permissions.set(Permission.objects.filter(codename__in=names))
result = row.pk
"""
CLEAR = """
from django.contrib.auth.models import User
Application.objects.filter(slug__in=("whole", "whole-2")).delete()
User.objects.filter(username="viewer-of-whole").delete()
"""


@pytest.fixture
def number(site: Site) -> Iterator[int]:
    found: int = site.shell(ROWS, password=ADMIN["password"])
    yield found
    site.shell(CLEAR)


def address(number: int, section: str) -> str:
    return f"/admin/catalog/application/{number}/studio/#{section}"


def section(page: Page, name: str) -> None:
    menu = page.get_by_role("navigation", name="Sections of the application")
    menu.get_by_role("link", name=re.compile(f"^{name}")).click()
    expect(page.locator("#studio-section")).to_have_text(name)


def test_a_finding_leads_to_its_field(admin_page: Page, number: int):
    page = admin_page
    page.goto(address(number, "tools"))
    page.locator(".studio-checked").click()
    found = page.get_by_label("Issues in the draft")

    found.get_by_role("link", name=f"Limits {NEXT} Maximum model calls").click()
    expect(page.locator("#studio-section")).to_have_text("Limits")
    expect(page.locator("[data-path='orchestrator.max_iterations']")).to_be_focused()
    assert barriers(page) == []

    found.get_by_role("link", name="odd").click()
    expect(page.locator("#studio-section")).to_have_text("All fields")


@pytest.mark.slow("uses several pages in a browser")
def test_a_text_that_is_no_json_is_kept_until_it_is_one(admin_page: Page, number: int):
    page = admin_page
    page.goto(address(number, "text"))
    editor = page.locator(".cm-content")
    editor.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("oops")
    expect(
        page.get_by_text("This is not valid JSON, so it is not part of the draft")
    ).to_be_visible()

    section(page, "Model")
    section(page, "Text")
    expect(editor).to_contain_text("oops")
    expect(
        page.get_by_text("This is not valid JSON, so it is not part of the draft")
    ).to_be_visible()
    assert barriers(page) == []
    page.get_by_role("button", name="Show the draft instead").click()
    expect(editor).not_to_contain_text("oops")


def test_the_form_of_a_large_manifest_is_built_after_asking(
    admin_page: Page, number: int, site: Site
):
    site.shell(
        """
        from apps.catalog.models import ApplicationDraft
        draft = ApplicationDraft.objects.get(application=number)
        draft.manifest["orchestrator"]["system_prompt"]["content"] = "word " * 13_000
        draft.save()
        """,
        number=number,
    )
    page = admin_page
    page.goto(address(number, "all-fields"))

    build = page.get_by_role("button", name="Load the form")
    expect(build).to_be_visible()
    expect(page.locator("[data-schemapath]")).to_have_count(0)
    build.click()
    expect(page.locator("[data-schemapath]").first).to_be_visible()


@pytest.mark.slow("uses several pages in a browser")
def test_the_name_in_addresses_and_the_owner_change_at_once(
    admin_page: Page, number: int, site: Site
):
    page = admin_page
    page.goto(address(number, "general"))
    page.get_by_label("Name in URLs").fill("two words")
    page.get_by_role("button", name="Change the name").click()
    expect(page.locator(".studio-status")).to_contain_text("Enter a valid “slug”")
    page.get_by_label("Name in URLs").fill("whole-2")
    page.get_by_role("button", name="Change the name").click()
    expect(page.locator(".studio-status")).to_have_text("Saved.")
    chat = page.get_by_role("link", name="Open in chat")
    expect(chat).to_have_attribute("href", "/chat/whole-2/")
    for name in ("Clone", "Export", "History of changes", "Attached files"):
        expect(page.locator("[data-section]").get_by_role("link", name=name)).to_be_visible()
    assert barriers_of_looks(page) == []

    section(page, "Access")
    page.get_by_label("Change the owner").fill("admin")
    page.get_by_role("button", name="Make owner").first.click()
    page.get_by_role("button", name="No owner").click()
    expect(page.get_by_text("None. Administrators and users with the role Owner")).to_be_visible()
    assert site.shell(
        "row = Application.objects.get(pk=number)\nresult = [row.slug, row.owner_id]", number=number
    ) == ["whole-2", None]


@pytest.mark.slow("uses several pages in a browser")
def test_a_viewer_reads_every_section_and_changes_nothing(
    browser: Browser, site: Site, number: int
):
    context = browser.new_context(base_url=site.url, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    problems = watch(page)
    page.goto("/admin/login/?next=/admin/")
    page.get_by_label("Username").fill("viewer-of-whole")
    page.get_by_label("Password").fill(ADMIN["password"])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/admin/")

    page.goto(address(number, "instructions"))
    expect(page.get_by_text("You can view this application")).to_be_visible()
    expect(page.get_by_role("textbox", name="Prompt", exact=True)).to_be_disabled()
    assert barriers_of_looks(page) == []
    page.set_viewport_size({"width": 1280, "height": 900})
    for name in ("Model", "Tools", "Behavior", "General", "Access", "Connect", "All fields"):
        section(page, name)
        expect(page.locator(".studio-error")).to_have_count(0)
    section(page, "Text")
    page.locator(".cm-content").click()
    page.keyboard.type("oops")
    expect(page.locator(".cm-content")).not_to_contain_text("oops")
    assert barriers(page) == []
    context.close()
    assert problems == []
