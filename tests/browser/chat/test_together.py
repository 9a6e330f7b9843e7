"""One conversation in three tabs and on a phone, with unreliable connections."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chat.test_demo import question, wait_for_answer
from tests.browser.conftest import sign_in_as_admin, watch
from tests.sites.serving import Site

TABS, STEPS, MOST_ASKED = 3, 24, 6
HEIGHT = 4000
"""In pixels. Turns far outside the visible part are not rendered, and all are compared."""
CREATE = """
from apps.catalog.models import Application
manifest = {"orchestrator": {"deployment": {"deployment_id": "demo-model"}}, "contexts": [], "tool_sets": []}
Application.objects.create(slug="together", title="Together", is_public=True, manifest=manifest)
"""
SHOWN = """
() => [...document.querySelectorAll("#log .question-text, #log .answer-text")]
  .map((text) => text.textContent.trim())
"""


@pytest.fixture(scope="module", autouse=True)
def application(site: Site, demo_model: None) -> None:
    site.shell(CREATE)


@contextmanager
def four_pages(browser: Browser, site: Site) -> Iterator[list[Page]]:
    desk = browser.new_context(service_workers="block", viewport={"width": 1280, "height": HEIGHT})
    phone = browser.new_context(
        service_workers="block",
        viewport={"width": 390, "height": HEIGHT},
        has_touch=True,
        is_mobile=True,
    )
    try:
        pages = [*(desk.new_page() for _ in range(TABS)), phone.new_page()]
        for page in (pages[0], pages[-1]):
            sign_in_as_admin(page, site)
        yield pages
    finally:
        desk.close()
        phone.close()


class Visit:
    """Random events on one of the pages."""

    def __init__(self, page: Page, name: str) -> None:
        self.page, self.name = page, name
        self.is_connected = True
        self.asked: list[str] = []

    def step(self, what: str) -> None:
        if not self.is_connected:
            self.come_back()
        elif what == "ask":
            text = f"{self.name} asks number {len(self.asked) + 1}"
            question(self.page).fill(text)
            send = self.page.locator("chat-composer button[type=submit]")
            expect(send).to_have_attribute("aria-disabled", "false")
            send.click()
            expect(question(self.page)).to_have_value("")
            self.asked.append(text)
        elif what == "lose":
            self.page.evaluate("dispatchEvent(new Event('offline'))")
            self.is_connected = False
        elif what == "reload":
            self.page.reload()
            expect(question(self.page)).to_be_enabled()

    def come_back(self) -> None:
        self.page.evaluate("dispatchEvent(new Event('online'))")
        self.is_connected = True


@pytest.mark.slow("many tabs act at random, and all have to agree at the end")
@pytest.mark.parametrize("seed", [7])
def test_all_show_the_same_at_the_end(browser: Browser, site: Site, seed: int) -> None:
    chance = random.Random(seed)
    with four_pages(browser, site) as pages:
        problems = [watch(page) for page in pages]
        pages[0].goto(f"{site.url}/chat/together/")
        question(pages[0]).fill("Where do we begin?")
        question(pages[0]).press("Enter")
        wait_for_answer(pages[0])
        for page in pages[1:]:
            page.goto(pages[0].url)
            expect(page.locator(".question-text")).to_have_count(1)

        visits = [Visit(page, f"Page {number}") for number, page in enumerate(pages)]
        for _ in range(STEPS):
            visit, what = chance.choice(visits), chance.choice(("ask", "lose", "reload"))
            if what != "ask" or sum(len(one.asked) for one in visits) < MOST_ASKED:
                visit.step(what)
        for visit in visits:
            visit.come_back()

        asked = sorted(["Where do we begin?", *(text for one in visits for text in one.asked)])
        for page in pages:
            expect(page.locator(".answer-foot")).to_have_count(len(asked))
            expect(page.locator("#queue .queued")).to_have_count(0)
        shown = [page.evaluate(SHOWN) for page in pages]
        pages[0].reload()
        expect(pages[0].locator(".answer-foot")).to_have_count(len(asked))
        kept = pages[0].evaluate(SHOWN)

    assert shown == [kept] * len(pages)
    assert (sorted(kept[::2]), len(kept)) == (asked, 2 * len(asked))
    assert problems == [[]] * len(pages)
