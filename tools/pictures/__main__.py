"""Take the pictures of the docs again: `python -m tools.pictures`."""

from __future__ import annotations

from playwright.sync_api import sync_playwright

from tests import chromium
from tools.pictures.quick_start import walk
from tools.pictures.site import served

SIZE = {"width": 1280, "height": 800}


def main() -> None:
    with served() as site, sync_playwright() as playwright:
        executable = chromium.find(playwright.chromium.executable_path)
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        context = browser.new_context(base_url=site.url, viewport=SIZE, reduced_motion="reduce")
        walk(context.new_page(), site.password)
        browser.close()


main()
