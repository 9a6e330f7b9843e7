"""What a browser fetches for the chat page, and what it keeps."""

from __future__ import annotations

import re

from playwright.sync_api import Page, Response, expect

from tests.browser.serving import Site

HASHED = re.compile(r"\.[0-9a-f]{12}\.(css|js|svg|woff2)$")
COMPRESSED = {"css", "js", "svg"}


def static_responses(page: Page) -> list[Response]:
    seen: list[Response] = []
    page.on("response", lambda one: seen.append(one) if "/static/" in one.url else None)
    return seen


def test_scripts_and_styles_come_compressed_and_are_fetched_once(site: Site, page: Page) -> None:
    site.manage("import_content")
    seen = static_responses(page)

    page.goto("/chat/demo/")
    expect(page.get_by_label("Your question")).to_be_visible()
    page.wait_for_load_state("networkidle")
    first, seen[:] = list(seen), []
    page.goto("/chat/demo/")
    expect(page.get_by_label("Your question")).to_be_visible()
    page.wait_for_load_state("networkidle")

    assert [one.url for one in first if not HASHED.search(one.url.partition("#")[0])] == []
    kept = {one.header_value("cache-control") for one in first}
    assert kept == {"max-age=315360000, public, immutable"}
    plain = [
        one.url
        for one in first
        if one.url.rpartition(".")[2] in COMPRESSED
        and int(one.header_value("content-length") or 0) > 1000
        and one.header_value("content-encoding") is None
    ]
    assert plain == []
    again = page.evaluate(
        "performance.getEntriesByType('resource')"
        ".filter(one => one.name.includes('/static/') && one.transferSize > 0)"
        ".map(one => one.name)"
    )
    assert again == []
