"""The message box: menus, pasting, shortcuts, settings, on the real site in a real browser."""

from __future__ import annotations

import os
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import barriers, barriers_of_looks
from tests.sites.serving import Site

SLUG = "composing"
ADDRESS = f"/chat/{SLUG}/"
MANIFEST: dict[str, Any] = {
    "orchestrator": {
        "deployment": {"deployment_id": "demo-thinker"},
        "system_prompt": {"type": "custom", "content": "You help.", "variables": {}},
    },
    "contexts": [],
    "tool_sets": [],
    "conversation_starters": {"starters": [{"title": "Oslo", "text": "The weather in Oslo?"}]},
}


@pytest.fixture(scope="module", autouse=True)
def applications(site: Site) -> None:
    site.shell(
        """
        from django.contrib.auth.models import User
        Deployment.objects.create(
            deployment_id="demo-thinker", display_name="Thinker", provider="demo",
            features={"reasoning_efforts": ["low", "high"]},
        )
        for slug, title in ((name, "Composing"), ("second-desk", "Second desk")):
            Application.objects.create(
                slug=slug, title=title, description="Answers.", is_public=True, manifest=manifest
            )
        admin = User.objects.get(username="admin")
        SavedPrompt.objects.create(
            user=admin, name="weekly-report", title="Weekly report",
            text="Report on {{topic}} for {{who}}, {{topic}} first.",
        )
        SavedPrompt.objects.create(name="for-all", title="For everybody", text="Said by all.")
        """,
        name=SLUG,
        manifest=MANIFEST,
    )


def question(page: Page) -> Locator:
    return page.get_by_label("Your question")


def options(page: Page) -> Locator:
    return page.locator(".caret-option")


def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{folder}/composer-{name}.png")


@pytest.mark.slow("a walk through several pages in a browser")
def test_prompts_skills_commands_applications_and_files_are_chosen_at_the_caret(admin_page: Page):
    page = admin_page
    page.goto(ADDRESS)
    box = question(page)
    expect(page.get_by_role("button", name="Thinking")).to_be_visible()

    box.press_sequentially("Please 1/2 /")
    expect(page.get_by_role("listbox", name="Prompts and commands")).to_be_visible()
    expect(options(page).filter(has_text="weekly-report")).to_be_visible()
    assert barriers_of_looks(page) == []
    box.press_sequentially("for-")
    expect(options(page)).to_have_text(["for-all For everybody"])
    expect(page.locator(".composer [role=status]")).to_contain_text("1 result.")
    box.press("Enter")
    expect(box).to_have_value("Please 1/2 Said by all.")
    expect(box).to_be_focused()

    box.fill("")
    box.press_sequentially("/weekly")
    box.press("Enter")
    first = page.get_by_label("topic", exact=True)
    expect(first).to_be_focused()
    assert barriers_of_looks(page) == []
    first.fill("sales")
    page.get_by_label("who", exact=True).fill("Ada")
    page.get_by_label("who", exact=True).press("Enter")
    expect(box).to_have_value("Report on sales for Ada, sales first.")
    expect(box).to_be_focused()

    page.get_by_label("Files", exact=True).set_input_files(
        {"name": "plan.txt", "mimeType": "text/plain", "buffer": b"A plan."}
    )
    expect(page.locator(".chip[data-state=done]")).to_contain_text("plan.txt")
    box.press("Enter")
    expect(page.locator("chat-answer .answer-foot")).to_be_visible()
    page.get_by_role("button", name="Thinking").press("ArrowDown")
    page.get_by_role("option", name="Thinking: high").press("Enter")
    expect(page.locator("#said")).to_have_text("Thinking changed. Applies from your next message.")
    page.reload()
    expect(page.get_by_role("button", name="Thinking: high")).to_be_visible()
    box.press_sequentially("#plan")
    options(page).first.click()
    expect(page.locator(".chip-name")).to_have_text("plan.txt")
    page.get_by_role("button", name="Remove plan").click()
    box.fill("")
    box.press_sequentially("Take over @second")
    box.press("Enter")
    expect(page).to_have_url(f"{page.url.split('/chat/')[0]}/chat/second-desk/")
    expect(question(page)).to_have_value("Take over")


def test_the_box_is_as_high_as_its_text_up_to_a_part_of_the_page(page: Page):
    page.goto(ADDRESS)
    box = question(page)
    heights = []
    for text in ("", "One line", "line\n" * 4, "line\n" * 100, ""):
        box.fill(text)
        heights.append(box.evaluate("(box) => box.offsetHeight"))

    line, padding = box.evaluate(
        """(box) => {
            const { lineHeight, paddingTop, paddingBottom } = getComputedStyle(box);
            return [parseFloat(lineHeight), parseFloat(paddingTop) + parseFloat(paddingBottom)];
        }"""
    )
    most = int(page.evaluate("Math.round(innerHeight * 0.4)"))
    [one, *_] = heights
    assert heights == [one, one, round(5 * line + padding), most, one]


def test_shortcuts_and_the_palette_reach_everything(page: Page):
    page.goto(f"{ADDRESS}?q=What+is+this%3F")
    box = question(page)
    expect(box).to_have_value("What is this?")
    expect(page.locator(".question")).to_have_count(0)
    assert "q=" not in page.url

    page.keyboard.press("Control+/")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    picture(page, "shortcuts")
    assert barriers(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Attach files").focus()
    page.keyboard.press("Shift+Escape")
    expect(box).to_be_focused()
    page.keyboard.press("Control+k")
    find = page.get_by_role("combobox", name="Go to")
    expect(find).to_be_focused()
    find.fill("second")
    expect(page.locator("#palette [role=option]").first).to_contain_text("Second desk")
    picture(page, "palette")
    assert barriers(page) == []
    find.fill("keyboard")
    expect(page.locator("#palette [role=option]").first).to_contain_text("Keyboard shortcuts")
    find.press("Enter")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+.")
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()

    page.get_by_label("Keyboard shortcuts").uncheck()
    page.get_by_role("radio", name="Ctrl + Enter").check()
    expect(page.locator(".toast")).to_contain_text("Saved in this browser.")
    page.goto(ADDRESS)
    page.keyboard.press("Control+/")
    page.keyboard.press("Control+k")
    expect(page.locator("dialog[open]")).to_have_count(0)
    box.fill("One")
    box.press("Enter")
    expect(box).to_have_value("One\n")
    box.press("Control+Enter")
    expect(page.locator("chat-log .question-text")).to_have_text("One")


@pytest.mark.walkthrough
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
@pytest.mark.slow("uses several pages in a browser")
def test_settings_and_prompts_are_kept_with_the_account(admin_page: Page, scheme: Any, width: int):
    page = admin_page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/settings/")
    assert barriers(page) == []
    picture(page, f"settings-{scheme}-{width}")
    page.get_by_role("radio", name="High contrast").check()
    expect(page.locator(".toast")).to_contain_text("Saved.")
    expect(page.locator("html")).to_have_attribute("data-theme", "contrast")
    assert barriers(page) == []
    picture(page, f"contrast-{scheme}-{width}")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("html")).not_to_have_attribute("data-theme", "contrast")
    page.reload()
    expect(page.get_by_role("radio", name="High contrast")).not_to_be_checked()

    page.goto("/prompts/")
    assert barriers(page) == []
    picture(page, f"prompts-{scheme}-{width}")
    page.get_by_role("link", name="New prompt").click()
    page.get_by_label("Name").fill("Not a name")
    page.get_by_label("Title").fill("Title")
    page.get_by_label("Text").fill("Text")
    page.get_by_role("button", name="Save").click()
    expect(
        page.get_by_text("Use lowercase letters, digits, and single hyphens between")
    ).to_be_visible()
    picture(page, f"prompt-edit-{scheme}-{width}")
    assert barriers(page) == []
