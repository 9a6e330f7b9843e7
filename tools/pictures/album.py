"""All pictures of the docs, in one browser."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import ViewportSize, expect, sync_playwright

from tests.browsers import chromium
from tools.pictures import more_views, quick_start
from tools.pictures.site import served

SIZE: ViewportSize = {"width": 1280, "height": 800}
PATIENCE = 60_000


def take_all(folder: Path) -> None:
    """Start a site, and take all pictures of it into the folder."""
    album = quick_start.Album(folder)
    expect.set_options(timeout=PATIENCE)
    with served() as site, sync_playwright() as playwright:
        executable = chromium.find(playwright.chromium.executable_path)
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        context = browser.new_context(base_url=site.url, viewport=SIZE, reduced_motion="reduce")
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        quick_start.walk(page, site.password, album)
        more_views.take_approval(page, album)
        more_views.take_usage(page, album)
        more_views.take_themes(browser, site.url, SIZE, album)
        browser.close()
