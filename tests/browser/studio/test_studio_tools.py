"""Tools and skills in the studio are added from every source, changed, tried and saved."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.conftest import barriers, pick
from tests.browser.studio.parcels import parcel_service
from tests.browser.studio.sources import source
from tests.capabilities.mcp.servers import serving_apart
from tests.sites.serving import Site

pytestmark = pytest.mark.usefixtures("demo_model")

TIMEOUT = "Timeout, in seconds"
PHONE: ViewportSize = {"width": 320, "height": 700}


@pytest.fixture
def studio(admin_page: Page, site: Site) -> Iterator[Page]:
    """Return the studio of a new application, with another application in the catalog."""
    numbers = site.shell(
        """
        from tests.catalog.rows import store_application
        rows = [
            store_application(slug=slug, title=slug, is_enabled=True)
            for slug in ("tools-here", "tools-beside")
        ]
        result = [row.pk for row in rows]
        """
    )
    admin_page.goto(f"{site.url}/admin/catalog/application/{numbers[0]}/studio/#tools")
    yield admin_page
    site.shell("Application.objects.filter(pk__in=numbers).delete()", numbers=numbers)


def add(page: Page, count: int, button: str = "Add these tools") -> None:
    page.get_by_role("button", name=button, exact=True).press("Enter")
    expect(page.locator("[data-toolset]")).to_have_count(count)
    # Keyboard users continue at the new card.
    expect(page.locator(f"[data-toolset='{count - 1}'] summary").first).to_be_focused()


def saved(page: Page) -> None:
    page.keyboard.press("Control+s")
    expect(page.locator(".studio-bar .studio-status")).to_have_text("Saved.")


def in_dark(page: Page) -> list[str]:
    page.evaluate("document.documentElement.classList.add('dark')")
    found = barriers(page)
    page.evaluate("document.documentElement.classList.remove('dark')")
    return found


def failed_once(site: Site, application: str, tool: str) -> None:
    site.shell(
        """
        from django.utils import timezone
        ToolUse.objects.create(
            application=application, version=1, door="page", bucket="user-1", bucket_kind="user",
            iteration=1, started_at=timezone.now(), tool=tool, location="server", has_failed=True,
        )
        """,
        application=application,
        tool=tool,
    )


@pytest.mark.slow("a walk through several pages in a browser")
def test_tools_come_from_every_source_and_stay_as_they_were_changed(studio: Page, site: Site):
    page = studio
    failed_once(site, "tools-here", "Parcels_find_parcel")
    with parcel_service() as service, serving_apart("http") as server:
        source(page, "OpenAPI document")
        page.get_by_label("Document URL").fill(f"{service}/openapi.json")
        page.get_by_role("button", name="Read").press("Enter")
        add(page, 1)

        source(page, "curl command")
        page.get_by_role("textbox", name="Command").fill(
            "curl 'https://api.example.com/v1/rates?of=NOK'"
        )
        page.get_by_role("button", name="Read").press("Enter")
        add(page, 2, "Add this tool")

        source(page, "MCP server")
        page.get_by_label("Server URL").last.fill(server)
        page.get_by_role("button", name="Connect").press("Enter")
        page.get_by_role("button", name="None", exact=True).press("Enter")
        expect(page.get_by_role("button", name="Add these tools")).to_be_disabled()
        page.get_by_role("list").get_by_role("checkbox").nth(1).press("Space")
        add(page, 3)
        expect(page.locator("[data-toolset='2']")).to_contain_text("MCP server · 1 tool")

        source(page, "Predefined toolset")
        page.get_by_role("button", name="Add Weather").first.press("Enter")
        expect(page.locator("[data-toolset]")).to_have_count(4)

        source(page, "Another application")
        pick(page, "Deployment", "tools-beside")
        add(page, 5, "Add")

        page.get_by_label("Questions to the user").check()
        wait_for_user = page.locator("[data-platform='questions']").get_by_label(TIMEOUT)
        wait_for_user.fill("60")

        tool = page.locator("[data-tool='find_parcel']")
        page.locator("[data-toolset='0'] > details > summary").press("Enter")
        tool.locator("summary").press("Enter")
        table = tool.get_by_role("table", name="Parameters of find_parcel")
        table.get_by_label("Description of number").fill("What stands on the parcel.")
        table.get_by_label("Default of number").fill("7")
        table.get_by_label("Default of number").blur()
        tool.get_by_label("Approval").select_option("confirm")
        tool.get_by_label("When a call fails").select_option("stop")
        assert (barriers(page), in_dark(page)) == ([], [])
        saved(page)

        page.reload()
        expect(page.locator("[data-toolset]")).to_have_count(5)
        page.locator("[data-toolset='0'] > details > summary").click()
        tool.locator("summary").click()
        expect(table.get_by_label("Description of number")).to_have_value(
            "What stands on the parcel."
        )
        expect(table.get_by_label("Default of number")).to_have_value("7")
        expect(tool.get_by_label("Approval")).to_have_value("confirm")
        expect(tool.get_by_label("When a call fails")).to_have_value("stop")
        expect(wait_for_user).to_have_value("60")
        failure = page.locator("[data-toolset='0']").get_by_text("failed 1 time in the last 7 days")
        expect(failure).to_contain_text("Parcels_find_parcel")

        page.get_by_role("button", name="Try Parcels").press("Enter")
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Try Parcels_find_parcel").press("Enter")
        dialog.get_by_label("number").first.fill("9")
        dialog.get_by_role("button", name="Call").press("Enter")
        expect(dialog).to_contain_text("on its way")
        assert barriers(page) == []
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)

    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_skill_is_written_with_a_file_and_an_icon_is_chosen(studio: Page, site: Site):
    page = studio
    page.goto(f"{page.url.partition('#')[0]}#skills")
    page.get_by_role("button", name="Write a skill").press("Enter")
    name = page.get_by_label("Name", exact=True)
    expect(name).to_be_focused()
    page.keyboard.type("tone")
    page.keyboard.press("Tab")
    expect(page.get_by_role("group", name="Skill tone")).to_be_visible()
    page.get_by_label("Description").press("Tab")
    expect(page.get_by_text("The description is missing.")).to_be_visible()
    page.get_by_label("Description").fill('How we write: "kindly". Always.')
    page.get_by_label("Instructions").last.fill("Short sentences.")
    page.get_by_role("button", name="Add a file").press("Enter")
    page.get_by_label("Text", exact=True).fill("please")
    expect(page.get_by_role("button", name="No issues")).to_be_visible()
    assert (barriers(page), in_dark(page)) == ([], [])
    saved(page)

    page.get_by_role("link", name="Instructions").click()
    page.get_by_text("Title, description and icon").click()
    page.get_by_role("radio", name="Green").press("Space")
    page.get_by_label("Or an emoji").fill("AB")
    expect(page.get_by_text("Enter one emoji")).to_be_visible()
    picture = {"name": "x.svg", "mimeType": "image/svg+xml", "buffer": b"<svg><script/></svg>"}
    page.get_by_label("Or a picture").set_input_files(picture)  # type: ignore[arg-type]
    expect(page.get_by_text("The image is now the draft's icon.")).to_be_visible()
    assert (barriers(page), in_dark(page)) == ([], [])
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.get_by_role("button", name="Publish…").click()
    page.get_by_label("Release note").fill("A skill")
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
