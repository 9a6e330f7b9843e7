"""An operator creates an application in the studio, tries its draft, publishes it, and uses it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers, watch
from tests.sites.serving import Site

pytestmark = pytest.mark.usefixtures("demo_model")

SECTIONS = (
    *(
        "Model",
        "Tools",
        "Files and contexts",
        "Skills",
        "Starters",
        "Behavior",
        "Access",
        "Limits",
    ),
    *("Versions", "Runs", "Connect", "All fields"),
)


def section(page: Page, name: str) -> None:
    menu = page.get_by_role("navigation", name="Sections of the application")
    menu.get_by_role("link", name=name).click()
    expect(page.locator("#studio-section")).to_have_text(name)


@pytest.mark.slow("a walk through several pages in a browser")
@pytest.mark.walkthrough
def test_an_application_is_made_tried_published_and_found_live(admin_page: Page, site: Site):
    page, problems = admin_page, watch(admin_page)
    page.goto(f"{site.url}/admin/catalog/application/new/")
    page.get_by_label("Title").fill("Studio desk")
    assert barriers(page) == []
    page.get_by_role("button", name="Create and open the studio").click()
    state = page.locator(".studio-state")
    expect(state).to_have_text("Draft")

    prompt = page.get_by_role("textbox", name="Prompt", exact=True)
    prompt.fill("You help the desk of {team}.")
    prompt.blur()
    page.get_by_label("{team}").fill("Depot North")
    expect(page.locator(".studio-saved")).to_have_text("Saved")
    section(page, "Model")
    page.get_by_role("radio", name="demo-model").check()
    section(page, "Starters")
    page.get_by_label("Question", exact=True).fill("What can you do?")
    page.get_by_label("Button", exact=True).fill("Help")

    section(page, "Files and contexts")
    page.get_by_role("button", name="Add a file").click()
    page.get_by_label("Path").fill("files/public/none.pdf")
    expect(page.get_by_text("there is no shared file 'none.pdf'")).to_be_visible()
    page.get_by_role("button", name="Remove context 1").click()

    # The draft answers before anything was saved.
    page.get_by_role("complementary").get_by_role("button", name="Help").click()
    answer = page.get_by_label("Answer of the draft")
    expect(answer).to_contain_text("model call")
    expect(answer).to_contain_text("built-in demo model")
    answer.get_by_text("Request to").click()
    answer.get_by_text("Prompt:").first.click()
    expect(answer).to_contain_text("You help the desk of Depot North.")
    assert barriers(page) == []

    page.get_by_role("button", name="Publish…").click()
    page.get_by_label("Release note").fill("The first one")
    page.keyboard.press("Enter")
    expect(page.locator(".studio-bar .studio-status")).to_have_text("Published as version 1.")
    expect(state).to_have_text("Live")

    for name in SECTIONS:
        section(page, name)
    section(page, "Behavior")
    page.get_by_label("Memory", exact=True).check()
    expect(page.get_by_label("Memories in the prompt")).to_be_visible()
    page.get_by_label("Time", exact=True).uncheck()
    page.get_by_label("Time", exact=True).check()
    assert barriers(page) == []
    page.keyboard.press("Control+s")
    expect(state).to_have_text("Live with unpublished changes")
    written = site.shell(
        """
        from apps.catalog.versions.drafts import draft_of
        result = draft_of(Application.objects.get(slug="studio-desk")).manifest["features"]
        """
    )
    assert written == {"documents": {"enabled": True}, "memory": {"enabled": True}}
    page.goto(f"{site.url}/chat/studio-desk/")
    expect(page.get_by_role("button", name="Help")).to_be_visible()
    assert problems == []


def test_removing_a_value_that_is_not_there_changes_nothing_around_it(admin_page: Page, site: Site):
    admin_page.goto(f"{site.url}/admin/")

    left = admin_page.evaluate(
        """async () => {
            const { Store } = await import("/static/console/studio/store.js");
            const store = new Store({ manifest: { tool_sets: [{ name: "shop" }, { name: "desk" }] } });
            store.change("tool_sets[0].display.name", undefined);
            store.change("tool_sets[2].name", undefined);
            return store.manifest;
        }"""
    )

    assert left == {"tool_sets": [{"name": "shop"}, {"name": "desk"}]}
