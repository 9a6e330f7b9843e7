"""Files that a browser fetches for the chat page, and those that it caches."""

from __future__ import annotations

import re

from playwright.sync_api import Page, Response, expect

from tests.sites.serving import Site

HASHED = re.compile(r"\.[0-9a-f]{12}\.(css|js|svg|woff2)$")
COMPRESSED = {"css", "js", "svg"}
MOST_REQUESTS = 32
MOST_BYTES = 159_000
"""The limit for the compressed page and all files that it fetches, without fonts."""
MOST_BYTES_OF_SCRIPTS = 120_000
MOST_BYTES_OF_FONTS = 30_000
LOADED = """
[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .map(({ name, encodedBodySize }) => ({ name, size: encodedBodySize }))
"""
NAMED = """
[...document.querySelectorAll("script[src], link[rel=modulepreload]")].map(({ src, href }) => src ?? href)
"""


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


def test_the_first_load_is_small_and_the_page_names_all_scripts_of_it(
    site: Site, page: Page
) -> None:
    site.manage("import_content")

    page.goto("/chat/demo/")
    expect(page.get_by_label("Your question")).to_be_visible()
    page.wait_for_load_state("networkidle")

    loaded = page.evaluate(LOADED)
    scripts = [one for one in loaded if one["name"].endswith(".js")]
    fonts = [one for one in loaded if one["name"].endswith(".woff2")]
    assert len(loaded) <= MOST_REQUESTS
    assert sum(one["size"] for one in loaded if one not in fonts) <= MOST_BYTES
    assert sum(one["size"] for one in fonts) <= MOST_BYTES_OF_FONTS
    assert sum(one["size"] for one in scripts) <= MOST_BYTES_OF_SCRIPTS
    named = page.evaluate(NAMED)
    assert [one["name"] for one in scripts if one["name"] not in named] == []
