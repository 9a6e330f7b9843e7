"""The page installed as an app: what its worker caches, and what it shows offline."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.browser.conftest import barriers, watch
from tests.sites.serving import Site

KEPT = """
async () => {
  const found = [];
  for (const name of await caches.keys())
    for (const request of await (await caches.open(name)).keys())
      found.push(new URL(request.url).pathname);
  return found.sort();
}
"""
HASHED = re.compile(r"^/static/.+\.[0-9a-f]{12}\.[a-z0-9]+$")


@pytest.fixture
def installed(browser: Browser, site: Site) -> Iterator[BrowserContext]:
    made = browser.new_context(base_url=site.url, viewport={"width": 390, "height": 800})
    made.set_default_timeout(60_000)
    yield made
    made.close()


def test_without_a_connection_a_page_says_so_and_comes_back(
    installed: BrowserContext, site: Site, demo_model: None
) -> None:
    site.manage("import_content")
    page = installed.new_page()
    problems = watch(page)
    page.goto("/")
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    page.goto("/chat/demo/")
    box = page.get_by_label("Your question")
    expect(box).to_be_visible()

    kept = page.evaluate(KEPT)
    assert [path for path in kept if path != "/offline/" and not HASHED.match(path)] == []
    assert "/offline/" in kept

    installed.set_offline(True)
    page.reload()
    expect(page.get_by_role("heading", name="No connection")).to_be_visible()
    assert barriers(page) == []

    installed.set_offline(False)
    expect(box).to_be_visible()
    assert problems == []
