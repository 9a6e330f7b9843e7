"""The form of a skill: SKILL.md, and further files that are added, renamed and removed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.browser.conftest import ADMIN, barriers, barriers_of_schemes
from tests.sites.serving import Site

ADD = "/admin/catalog/contentitem/add/?kind=skill&name="
DOCUMENT = "---\nname: {name}\ndescription: How we write letters.\n---\nBe kind.\n"


@pytest.fixture(scope="module", autouse=True)
def _own_rows(site: Site) -> Iterator[None]:
    """Delete the skills afterwards, because every application of the site is offered them."""
    yield
    site.shell(
        "from apps.catalog.content.models import ContentItem\nContentItem.objects.all().delete()"
    )


def files_of(site: Site, name: str) -> Any:
    code = "from apps.catalog.content.models import ContentItem\n"
    code += "result = [row.files for row in ContentItem.objects.filter(name=name)]"
    return site.shell(code, name=name)


def payload(name: str, content: bytes) -> FilePayload:
    return {"name": name, "mimeType": "text/plain", "buffer": content}


def save(page: Page) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name="Save", exact=True).click()


def test_files_are_written_removed_and_brought_back_by_keyboard_alone(admin_page: Page, site: Site):
    page, keys = admin_page, admin_page.keyboard
    page.goto(f"{ADD}by-keyboard")
    files = page.get_by_role("group", name="Files next to SKILL.md")
    status = files.get_by_role("status")
    expect(page.get_by_label("SKILL.md*")).to_have_value(
        "---\nname: by-keyboard\ndescription:\n---\n\n"
    )
    expect(files.get_by_text("There are no files next to SKILL.md.")).to_be_visible()
    page.get_by_label("SKILL.md*").focus()
    keys.press("Control+A")
    keys.insert_text(DOCUMENT.format(name="by-keyboard"))

    keys.press("Tab")
    for path, text in (("thanks.md", "Dear friend"), ("logo.png", "no picture")):
        expect(files.get_by_role("button", name="Add a file")).to_be_focused()
        keys.press("Enter")
        keys.type(path)
        keys.press("Tab")
        keys.type(text)
        keys.press("Tab")  # Remove
        keys.press("Tab")  # Add a file
    second = files.get_by_label("Path").nth(1)
    expect(second).to_have_attribute("aria-invalid", "true")
    expect(second).to_have_accessible_description(re.compile("logo.png: must end with one of"))
    keys.press("Shift+Tab")
    keys.press("Enter")
    expect(status).to_have_text("Removed logo.png.")
    expect(files.get_by_role("button", name="Restore")).to_be_focused()
    keys.press("Enter")
    expect(second).to_be_focused()
    keys.press("Control+A")
    keys.type("letters/sorry.md")
    expect(second).not_to_have_attribute("aria-invalid", "true")
    assert barriers(page) == []
    save(page)

    assert files_of(site, "by-keyboard") == [
        {"letters/sorry.md": "no picture", "thanks.md": "Dear friend"}
    ]


def test_nothing_is_lost_by_a_mistake_and_what_is_wrong_stands_at_its_file(
    admin_page: Page, site: Site
):
    page = admin_page
    page.goto(f"{ADD}mistaken")
    page.get_by_label("SKILL.md*").fill("Be kind.")
    page.get_by_role("button", name="Add a file").click()
    page.get_by_label("Path").fill("../secret.md")
    page.get_by_role("textbox", name="Text", exact=True).fill("One line\n\nand <b>another</b>\n")

    save(page)

    expect(page.get_by_text("../secret.md: is hidden; remove the dot")).to_have_count(2)
    expect(page.get_by_text("SKILL.md: front matter: is missing")).to_be_visible()
    expect(page.get_by_label("Path")).to_have_value("../secret.md")
    expect(page.get_by_label("Path")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value(
        "One line\n\nand <b>another</b>\n"
    )
    assert barriers(page) == []
    assert files_of(site, "mistaken") == []


def test_a_skill_is_written_without_scripts(browser: Browser, site: Site):
    context = browser.new_context(base_url=site.url, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"/admin/login/?next={ADD.replace('&', '%26')}no-scripts")
    page.get_by_label("Username").fill(ADMIN["username"])
    page.get_by_label("Password").fill(ADMIN["password"])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_label("SKILL.md*").fill(DOCUMENT.format(name="no-scripts"))
    page.locator("summary", has_text="a new file").first.click()
    page.get_by_label("Path").first.fill("rules.md")
    page.get_by_role("textbox", name="Text", exact=True).first.fill("Be brief.\n")

    save(page)

    context.close()
    assert files_of(site, "no-scripts") == [{"rules.md": "Be brief.\n"}]


def test_a_phone_shows_the_form_without_scrolling_sideways(admin_page: Page):
    page = admin_page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{ADD}narrow")
    page.get_by_role("button", name="Add a file").click()
    page.get_by_label("Path").fill("a-very-long-name-without-any-space-in-it/" * 4 + "a.md")

    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")

    assert (wide, barriers_of_schemes(page)) == (0, [])
