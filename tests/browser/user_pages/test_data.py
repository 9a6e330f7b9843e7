"""The page with a user's data, on the real site in a real browser."""

from __future__ import annotations

import json
import os
import zipfile
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers, pick
from tests.chat.imports.samples import PNG, TRIP, chatgpt, chatgpt_node, pointer_to, zip_of
from tests.sites.serving import Site

SLUG = "keeping"
MANIFEST: dict[str, Any] = {
    "orchestrator": {
        "deployment": {"deployment_id": "demo-keeper"},
        "system_prompt": {"type": "custom", "content": "You help.", "variables": {}},
    },
    "contexts": [],
    "tool_sets": [],
}


@pytest.fixture(scope="module", autouse=True)
def application(site: Site) -> None:
    site.shell(
        """
        Deployment.objects.create(
            deployment_id="demo-keeper", display_name="Keeper", provider="demo"
        )
        Application.objects.create(
            slug=name, title="Keeping", description="Answers.", is_public=True, manifest=manifest
        )
        """,
        name=SLUG,
        manifest=MANIFEST,
    )


def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{folder}/data-{name}.png", full_page=True)


@pytest.mark.walkthrough
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
@pytest.mark.slow("uses several pages in a browser")
def test_conversations_are_imported_read_and_gone_on_with(
    admin_page: Page, scheme: Any, width: int
):
    page = admin_page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    title = f"Trip in the {scheme}"
    asked = {"content_type": "multimodal_text", "parts": [pointer_to("file-Ab1"), "Well?"]}
    other = chatgpt(
        chatgpt_node("q", None, "user", asked),
        chatgpt_node("a", "q", "assistant", "**Yes**"),
        key=f"other-{scheme}",
        title=f"Other {scheme}",
    )
    file = json.dumps([{**TRIP, "title": title, "conversation_id": scheme}, other, {"odd": 1}])
    whole = zip_of({"conversations.json": file.encode(), "file-Ab1-cat.png": PNG})
    page.goto("/settings/")
    page.get_by_role("link", name="Data", exact=True).click()

    page.get_by_label("File", exact=True).set_input_files(
        {"name": "export.zip", "mimeType": "application/zip", "buffer": whole.getvalue()}
    )
    page.get_by_text("Continue these conversations in").click()
    field = page.get_by_role("button", name="Continue these conversations in:")
    expect(field).to_be_focused()
    field.press("Enter")
    assert barriers(page) == []
    page.keyboard.press("Escape")
    pick(page, "Continue these conversations in", "Keeping")
    page.get_by_role("button", name="Import", exact=True).click()

    expect(page.get_by_text("Imported 2 conversations with 7 messages")).to_be_visible()
    expect(page.get_by_text("1 attachment")).to_be_visible()
    picture(page, f"imported-{scheme}-{width}")
    assert barriers(page) == []
    page.get_by_role("link", name="Open “Keeping”").click()
    if width < 800:
        page.get_by_role("button", name="Menu", exact=True).click()
    page.locator(".sidebar").get_by_role("link", name=title).click()
    expect(page.locator(".question")).to_have_count(2)
    answers = page.locator("chat-answer")
    expect(answers.last).to_contain_text("Far.")
    expect(page.get_by_text("1/2")).to_be_visible()
    expect(page.locator("#keeping-notice")).to_contain_text("Imported from ChatGPT")
    picture(page, f"conversation-{scheme}-{width}")
    assert barriers(page) == []
    if width < 800:
        page.get_by_role("button", name="Menu", exact=True).click()
    page.locator(".sidebar").get_by_role("link", name=f"Other {scheme}").click()
    expect(page.locator(".question").get_by_role("img", name="picture.png")).to_be_visible()
    page.get_by_label("Your question").fill("And now?")
    page.get_by_label("Your question").press("Enter")
    expect(page.locator(".question")).to_have_count(2)
    expect(answers.last.locator(".answer-foot")).to_be_visible()


@pytest.mark.slow("a walk through several pages in a browser")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_a_temporary_conversation_says_what_becomes_of_it_and_can_be_kept(
    admin_page: Page, scheme: Any, width: int
):
    page = admin_page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"/chat/{SLUG}/")
    question, notice = page.get_by_label("Your question"), page.locator("#keeping-notice")
    switch = page.get_by_role("switch", name="Temporary")
    expect(question).to_be_enabled()

    page.keyboard.press("Control+Shift+Quote")
    expect(switch).to_be_checked()
    expect(notice).to_contain_text("deleted 10 minutes after you leave it, or 24 hours after")
    picture(page, f"temporary-new-{scheme}-{width}")
    assert barriers(page) == []
    switch.click()
    expect(notice).to_be_hidden()
    page.keyboard.press("Control+Shift+Quote")
    secret = f"A secret in the {scheme}"
    question.fill(secret)
    question.press("Enter")
    expect(page.locator("chat-answer .answer-foot")).to_be_visible()
    expect(page.get_by_role("button", name="Save this conversation")).to_be_visible()
    expect(page.locator(".sidebar").get_by_text(secret)).to_have_count(0)
    page.reload()
    expect(page.locator(".question")).to_have_count(1)
    expect(notice).to_contain_text("Temporary chat:")
    picture(page, f"temporary-{scheme}-{width}")
    assert barriers(page) == []

    page.get_by_role("button", name="Save this conversation").press("Enter")
    expect(notice).to_be_hidden()
    expect(page.locator("#said")).to_have_text("This conversation is saved to your history.")
    expect(page.locator(".sidebar").get_by_text(secret).first).to_be_attached()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
@pytest.mark.slow("uses several pages in a browser")
def test_a_person_takes_everything_along_and_deletes_it(
    site: Site, page: Page, scheme: Any, width: int
):
    name = f"leaver-{scheme}"
    session = site.shell(
        """
        from django.contrib.auth.models import User
        from django.test import Client
        user = User.objects.create_user(name)
        application = Application.objects.get(slug=slug)
        for title in ("One", "Two"):
            Conversation.objects.create(
                application=application, owner=f"user-{user.pk}", title=title
            )
        client = Client()
        client.force_login(user)
        result = client.session.session_key
        """,
        name=name,
        slug=SLUG,
    )
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": site.url}])
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto("/settings/data/")
    page.get_by_label("Delete inactive conversations").select_option("After 90 days")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.", exact=True)).to_be_visible()
    picture(page, f"page-{scheme}-{width}")
    assert barriers(page) == []
    with page.expect_download() as download:
        page.get_by_role("link", name="Export all conversations").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert len(archive.namelist()) == 4  # two conversations, the files, the account

    page.get_by_role("link", name="Delete all conversations").click()
    page.get_by_label("Type “delete” to continue").fill("delete")
    picture(page, f"delete-{scheme}-{width}")
    assert barriers(page) == []
    page.get_by_label("Type “delete” to continue").press("Enter")
    expect(page.get_by_text("2 conversations were deleted.")).to_be_visible()
    page.goto(f"/chat/{SLUG}/")
    expect(page.locator("#keeping-notice")).to_contain_text("after 90 days of inactivity")

    page.goto("/settings/data/")
    page.get_by_role("link", name="Delete your account").click()
    picture(page, f"account-{scheme}-{width}")
    assert barriers(page) == []
    page.get_by_label("Type your username").fill(name)
    page.get_by_role("button", name="Delete my account").click()
    expect(page.get_by_text("Your account was deleted.")).to_be_visible()


def test_the_list_of_the_settings_marks_the_section_at_the_top_or_the_chosen_one(
    admin_page: Page,
) -> None:
    page = admin_page
    page.set_viewport_size({"width": 1280, "height": 800})
    marked = page.locator(".sections [aria-current]")
    page.goto("/settings/")
    expect(marked).to_have_text("Appearance")
    page.get_by_role("link", name="Shared links").click()
    expect(marked).to_have_text("Shared links")
    expect(page.get_by_role("heading", name="Shared links")).to_be_in_viewport()

    page.goto("/account/")
    expect(marked).to_have_text("Account")
    page.locator("#sign-in").evaluate(
        "section => scrollTo(0, scrollY + section.getBoundingClientRect().top - 100)"
    )
    expect(marked).to_have_text("Security")
    page.get_by_role("link", name="API keys").click()
    expect(marked).to_have_text("API keys")
    page.evaluate("scrollTo(0, 0)")
    expect(marked).to_have_text("Account")
    assert barriers(page) == []
