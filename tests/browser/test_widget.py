"""The widget in a frame on another site, with a strict policy on both and blocked cookies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Frame, FrameLocator, Page, expect

from tests.browser.conftest import barriers
from tests.browser.widget_host import serve_shop
from tests.sites.serving import Site

BLOCKED = {
    "enableThirdPartyCookieRestriction": True,
    "disableThirdPartyCookieMetadata": True,
    "disableThirdPartyCookieHeuristics": True,
}
LISTEN = """
() => {
  window.heard = [];
  for (const name of ["opened", "closed", "message", "error", "size"]) {
    QuickApps.addEventListener(name, ({detail}) => heard.push([name, detail]));
  }
}
"""
MANIFEST = {
    "orchestrator": {"deployment": {"deployment_id": "demo-model"}},
    "contexts": [],
    "tool_sets": [],
}


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    with serve_shop() as origin:
        yield origin


@pytest.fixture
def shop_page(page: Page) -> Page:
    """A page in a browser that blocks third-party cookies."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCookieControls", BLOCKED)
    return page


def add_widget(site: Site, *origins: str, **fields: Any) -> str:
    slug = f"shop-{uuid4().hex[:6]}"
    site.shell(
        """
        from apps.catalog.models import Widget
        row = Application.objects.create(
            **{"slug": slug, "title": "Shop desk", "is_public": True, "manifest": manifest, **fields}
        )
        Widget.objects.create(
            application=row, is_enabled=True, origins=origins, identity_key="k" * 43
        )
        """,
        slug=slug,
        origins=[*origins],
        manifest=MANIFEST,
        fields=fields,
    )
    return slug


def open_shop(page: Page, shop: str, site: Site, slug: str, **data: str) -> FrameLocator:
    query = urlencode({"site": site.url, "app": slug, **data})
    page.goto(f"{shop}/?{query}")
    page.wait_for_function("window.QuickApps")
    page.evaluate(LISTEN)
    return page.frame_locator("iframe")


def inner(page: Page) -> Frame:
    return page.frames[1]


def ask(frame: FrameLocator, text: str) -> None:
    frame.get_by_label("Your question").fill(text)
    frame.get_by_role("button", name="Send").click()


@pytest.mark.walkthrough
def test_a_visitor_asks_on_another_site_and_finds_the_answer_again(
    site: Site, shop: str, shop_page: Page
):
    slug = add_widget(site, shop)
    frame = open_shop(shop_page, shop, site, slug)
    frame.get_by_role("button", name="Open the chat").click()

    ask(frame, "What is the weather in Oslo?")
    answer = frame.locator("chat-answer .answer-text").first
    expect(answer).not_to_be_empty()
    expect(frame.get_by_role("button", name="Copy as Markdown")).to_be_visible()
    text = answer.inner_text()

    assert inner(shop_page).evaluate("document.hasStorageAccess()") is False
    assert inner(shop_page).evaluate("document.cookie") == ""
    assert [one["name"] for one in shop_page.context.cookies()] == []
    frame = open_shop(shop_page, shop, site, slug)
    frame.get_by_role("button", name="Open the chat").click()
    expect(frame.locator("chat-answer .answer-text").first).to_have_text(text)


def test_the_widget_is_accessible_and_gives_the_focus_back(site: Site, shop: str, shop_page: Page):
    frame = open_shop(shop_page, shop, site, add_widget(site, shop))
    launcher = frame.get_by_role("button", name="Open the chat")
    expect(launcher).to_be_visible()
    closed = barriers(shop_page)

    launcher.press("Enter")
    expect(frame.get_by_label("Your question")).to_be_focused()
    ask(frame, "What time is it in Tokyo?")
    expect(frame.get_by_role("button", name="Copy as Markdown")).to_be_visible()
    opened = barriers(shop_page)
    frame.get_by_label("Your question").press("Escape")
    expect(launcher).to_be_focused()

    shop_page.get_by_role("button", name="Help").focus()
    shop_page.evaluate("QuickApps.open()")
    expect(frame.get_by_label("Your question")).to_be_focused()
    frame.get_by_role("button", name="Close the chat").press("Enter")
    expect(shop_page.get_by_role("button", name="Help")).to_be_focused()
    assert (closed, opened) == ([], [])


@pytest.mark.slow("uses several pages in a browser")
def test_the_site_talks_to_the_widget_through_its_port(site: Site, shop: str, shop_page: Page):
    slug = add_widget(site, shop)
    frame = open_shop(shop_page, shop, site, slug, theme="dark", accent="#663399")

    shop_page.evaluate("QuickApps.context({product: 'Boots'}); QuickApps.ask('What is this?')")
    expect(frame.locator(".question-text")).to_have_text("What is this?")
    expect(frame.get_by_role("button", name="Copy as Markdown")).to_be_visible()
    accent = "getComputedStyle(document.documentElement).getPropertyValue('--accent')"
    assert inner(shop_page).evaluate(accent) == "#663399"
    assert inner(shop_page).evaluate("document.documentElement.dataset.theme") == "dark"
    narratives = site.shell(
        """
        from apps.conversations.models import Message
        rows = Message.objects.filter(role="user", conversation__application__slug=slug)
        result = [row.place["narrative"] for row in rows]
        """,
        slug=slug,
    )
    assert [one.partition(": ")[2] for one in narratives] == ['"{\\"product\\":\\"Boots\\"}"']

    shop_page.evaluate("QuickApps.theme({accent: 'url(//evil)'}); QuickApps.locale('de')")
    expect(frame.get_by_label("Ihre Frage")).to_be_visible()
    expect(frame.locator(".question-text")).to_have_text("What is this?")
    shop_page.evaluate("QuickApps.close()")
    expect(frame.get_by_role("button", name="Chat öffnen")).to_be_visible()
    shop_page.wait_for_function("heard.at(-1)?.[0] === 'closed'")
    heard = shop_page.evaluate("heard")
    names = [name for name, _ in heard if name != "size"]
    # The frame has reloaded for its language, and is told the theme again.
    assert names == ["opened", "message", "message", "error", "opened", "error", "closed"]
    assert dict(heard)["error"] == {
        "code": "theme_invalid",
        "text": "Unknown or invalid theme tokens: accent.",
    }
    assert dict(heard)["message"] == {"role": "assistant"}


@pytest.mark.slow("uses several pages in a browser")
def test_a_user_of_the_site_is_recognized_by_a_signed_identity(
    site: Site, shop: str, shop_page: Page
):
    slug = add_widget(site, shop, is_public=False)
    frame = open_shop(shop_page, shop, site, slug)
    frame.get_by_role("button", name="Open the chat").click()
    expect(frame.get_by_role("alert").first).to_have_text("Sign in on this site to use the chat.")

    shop_page.evaluate("(token) => QuickApps.identity(token)", signed(site, slug))
    ask(frame, "What is the weather in Oslo?")
    expect(frame.get_by_role("button", name="Copy as Markdown")).to_be_visible()

    frame = open_shop(shop_page, shop, site, slug)
    shop_page.evaluate("(token) => QuickApps.identity(token)", signed(site, slug))
    shop_page.evaluate("QuickApps.open()")
    expect(frame.locator(".question-text")).to_have_text("What is the weather in Oslo?")


def signed(site: Site, slug: str) -> str:
    code = """
        import time
        from uuid import uuid4
        import jwt
        claims = {"sub": "ada", "aud": slug, "exp": int(time.time()) + 60, "jti": uuid4().hex}
        result = jwt.encode(claims, "k" * 43, algorithm="HS256")
        """
    return str(site.shell(code, slug=slug))


def test_other_sites_cannot_show_the_widget(site: Site, shop: str, browser: Browser):
    slug = add_widget(site, "https://another.example")
    page = browser.new_page()
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))

    page.goto(f"{shop}/?{urlencode({'site': site.url, 'app': slug})}")
    page.wait_for_function("window.QuickApps")
    with page.expect_event("console", lambda message: "frame-ancestors" in message.text):
        page.reload()

    assert page.locator("iframe").evaluate("(one) => one.style.visibility") == "hidden"
    page.close()
