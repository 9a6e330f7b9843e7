"""Tools and skills of an application in the studio: added from every source, changed, tried, kept."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.conftest import barriers
from tests.browser.serving import Site

pytestmark = pytest.mark.usefixtures("demo_model")

PHONE: ViewportSize = {"width": 320, "height": 700}


@pytest.fixture
def studio(admin_page: Page, site: Site) -> Iterator[Page]:
    """The studio of a new application beside another one."""
    numbers = site.shell(
        """
        rows = [
            Application.objects.create(slug=slug, title=slug, is_enabled=True)
            for slug in ("tools-here", "tools-beside")
        ]
        result = [row.pk for row in rows]
        """
    )
    admin_page.goto(f"{site.url}/admin/catalog/application/{numbers[0]}/studio/#tools")
    yield admin_page
    site.shell("Application.objects.filter(pk__in=numbers).delete()", numbers=numbers)


def saved(page: Page) -> None:
    page.keyboard.press("Control+s")
    expect(page.locator(".studio-bar .studio-status")).to_have_text("Saved.")


def in_dark(page: Page) -> list[str]:
    page.evaluate("document.documentElement.classList.add('dark')")
    found = barriers(page)
    page.evaluate("document.documentElement.classList.remove('dark')")
    return found


def test_a_skill_is_written_with_a_file_and_an_icon_is_chosen(studio: Page, site: Site):
    page = studio
    page.goto(f"{page.url.partition('#')[0]}#skills")
    page.get_by_role("button", name="Write a skill").press("Enter")
    name = page.get_by_label("Name", exact=True)
    expect(name).to_be_focused()
    page.keyboard.type("tone")
    page.keyboard.press("Tab")
    expect(page.get_by_role("group", name="Skill tone")).to_be_visible()
    expect(page.get_by_text("description: is missing")).to_be_visible()
    page.get_by_label("What it is for").fill('How we write: "kindly". Always.')
    page.get_by_label("Instructions").last.fill("Short sentences.")
    page.get_by_role("button", name="Add a file").press("Enter")
    page.get_by_label("Text", exact=True).fill("please")
    expect(page.get_by_role("button", name="No mistakes")).to_be_visible()
    assert (barriers(page), in_dark(page)) == ([], [])
    saved(page)

    page.get_by_role("link", name="Instructions").click()
    page.get_by_text("Title, description and icon").click()
    page.get_by_role("radio", name="Green").press("Space")
    page.get_by_label("Or an emoji").fill("AB")
    expect(page.get_by_text("Write one emoji")).to_be_visible()
    picture = {"name": "x.svg", "mimeType": "image/svg+xml", "buffer": b"<svg><script/></svg>"}
    page.get_by_label("Or a picture").set_input_files(picture)  # type: ignore[arg-type]
    expect(page.get_by_text("is the icon of the draft now")).to_be_visible()
    assert (barriers(page), in_dark(page)) == ([], [])
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.get_by_role("button", name="Publish…").click()
    page.get_by_label("Note, for those").fill("A skill")
    page.keyboard.press("Enter")
    expect(page.locator(".studio-bar .studio-status")).to_have_text("Published as version 2.")

    kept = site.shell(
        """
        row = Application.objects.get(slug="tools-here")
        [skill] = row.skills.all()
        result = [row.icon[-4:], skill.name, skill.text, skill.files]
        """
    )
    head = 'name: tone\ndescription: "How we write: \\"kindly\\". Always."'
    document = f"---\n{head}\n---\n\nShort sentences."
    assert kept == [".svg", "tone", document, {"notes.md": "please"}]
