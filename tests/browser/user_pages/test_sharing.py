"""A user shares a conversation; another user reads and continues it; it is exported and printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.chat.test_demo import question, wait_for_answer
from tests.browser.conftest import barriers, watch
from tests.browser.user_pages.test_rail import LOOKS, choose
from tests.sites.serving import Site

PREPARE = """
from django.contrib.auth.models import User
from django.test import Client
from apps.catalog.models import Application
from tests.chat.shares.talks import add_file, add_turn, begin

application = Application.objects.create(
    slug=slug, title="Travel desk", is_shared=True, manifest={
        "orchestrator": {"deployment": {"deployment_id": "demo-model"}}, "contexts": [], "tool_sets": []
    },
)
ada = User.objects.create_user(f"ada-{slug}", first_name="Ada", last_name="Lovelace")
grace = User.objects.create_user(f"grace-{slug}")
trip = begin(ada, application, "A weekend in Riga")
notes = add_file(trip, "notes.txt", b"Gate 4, a window")
add_turn(trip, "When does the train leave?", "At **eight**.", file=notes)
add_turn(trip, "And back?", "On Sunday.")
result = {"conversation": str(trip.pk)}
for user in (ada, grace):
    client = Client()
    client.force_login(user)
    result[user.username.split("-")[0]] = client.session.session_key
"""


@dataclass(frozen=True)
class People:
    """The page of the owner, on the conversation, and that of another user."""

    owner: Page
    reader: Page


@pytest.fixture
def people(browser: Browser, site: Site, demo_model: None) -> Iterator[People]:
    slug = f"trips-{uuid4().hex[:6]}"
    made = site.shell(PREPARE, slug=slug)
    contexts: list[BrowserContext] = []
    pages: list[Page] = []
    for name in ("ada", "grace"):
        context = browser.new_context(
            base_url=site.url,
            viewport={"width": 1280, "height": 900},
            service_workers="block",
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(60_000)
        context.add_cookies([{"name": "sessionid", "value": made[name], "url": site.url}])
        contexts.append(context)
        pages.append(context.new_page())
    problems = [watch(page) for page in pages]
    pages[0].goto(f"/chat/{slug}/{made['conversation']}/")
    expect(pages[0].locator(".question")).to_have_count(2)
    yield People(pages[0], pages[1])
    assert problems == [[], []]
    for context in contexts:
        context.close()


@pytest.mark.slow("a walk through several pages in a browser")
@pytest.mark.walkthrough
def test_a_conversation_is_shared_read_and_gone_on_from(people: People) -> None:
    owner, reader = people.owner, people.reader
    share = owner.get_by_role("button", name="Share", exact=True)
    share.focus()
    owner.keyboard.press("Enter")
    dialog = owner.get_by_role("dialog", name="Share this conversation")
    expect(dialog).to_contain_text("including its 2 answers. Last question included: And back?")
    expect(dialog).to_contain_text("Signed-in users can open the link.")
    for theme, width in LOOKS:
        owner.emulate_media(color_scheme=theme)
        owner.set_viewport_size({"width": width, "height": 900})
        assert barriers(owner) == []
    owner.get_by_role("checkbox", name="Files").press("Space")
    owner.get_by_role("button", name="Create link").press("Enter")
    expect(dialog.get_by_role("button", name="Copy link")).to_be_focused()
    owner.keyboard.press("Enter")
    expect(dialog.get_by_role("button", name="Copied")).to_be_visible()
    link = owner.evaluate("navigator.clipboard.readText()")
    assert barriers(owner) == []
    owner.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(share).to_be_focused()

    reader.goto(link)
    expect(reader.get_by_role("heading", name="A weekend in Riga")).to_be_visible()
    expect(reader.get_by_text("Shared by Ada Lovelace")).to_be_visible()
    expect(reader.locator("strong", has_text="eight")).to_be_visible()
    expect(reader.get_by_text("Timetable")).to_have_count(0)
    expect(reader.get_by_role("textbox")).to_have_count(0)
    reader.locator("summary", has_text="notes.txt").first.click()
    expect(reader.get_by_text("Gate 4, a window")).to_be_visible()
    for theme, width in LOOKS:
        reader.emulate_media(color_scheme=theme)
        reader.set_viewport_size({"width": width, "height": 900})
        assert barriers(reader) == []

    reader.get_by_role("button", name="Continue from here").press("Enter")
    reader.wait_for_url(re.compile("/chat/trips-"))
    expect(reader.locator(".question")).to_have_count(2)
    question(reader).fill("And to Oslo?")
    question(reader).press("Enter")
    wait_for_answer(reader)
    expect(reader.locator(".question")).to_have_count(3)
    expect(owner.locator(".question")).to_have_count(2)

    owner.set_viewport_size({"width": 1280, "height": 900})
    owner.goto("/settings/")
    owner.get_by_role("button", name="Revoke the link to “A weekend in Riga”").press("Enter")
    expect(owner.get_by_text("The link was revoked")).to_be_visible()
    assert barriers(owner) == []
    reader.goto(link)
    expect(reader.get_by_role("heading", name="This link doesn’t work")).to_be_visible()
    assert barriers(reader) == []


def test_the_menu_of_a_row_shares_revokes_exports_and_prints(people: People) -> None:
    owner = people.owner
    owner.evaluate(
        "void (globalThis.print = () => {"
        " document.body.dataset.printed = document.querySelectorAll('.question').length })"
    )
    choose(owner, "A weekend in Riga", "Share…")
    dialog = owner.get_by_role("dialog", name="Share this conversation")
    owner.get_by_role("radio", name="Never").check()
    owner.get_by_role("button", name="Create link").click()
    expect(dialog.get_by_text("does not expire")).to_be_visible()
    dialog.get_by_role("button", name="Revoke the link").press("Enter")
    expect(dialog.get_by_role("button", name="Copy link")).to_have_count(0)
    owner.get_by_role("button", name="Close", exact=True).click()

    names = []
    for item in ("Export as Markdown", "Export as JSON"):
        with owner.expect_download() as saved:
            choose(owner, "A weekend in Riga", item)
        names.append(saved.value.suggested_filename)
    assert names == ["A weekend in Riga.md", "A weekend in Riga.json"]

    owner.get_by_role("link", name="New chat").click()
    expect(owner.locator(".question")).to_have_count(0)
    choose(owner, "A weekend in Riga", "Print")
    expect(owner.locator("body[data-printed='2']")).to_be_visible()
    expect(owner).to_have_title("A weekend in Riga · Travel desk")
