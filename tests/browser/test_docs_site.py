"""The docs site builds strictly, loads nothing from other hosts, and its search finds pages."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.tables import each_row

ROOT = Path(__file__).parents[2]
MKDOCS = ROOT / ".venv-docs/bin/mkdocs"
RESULTS = ".md-search-result__item > a.md-search-result__link"
SEARCHES = [
    ("timeout", "tools"),
    ("retry", "deployments"),
    ("rotate key", "operating"),
    ("backup", "backup"),
    ("S3", "file-storage"),
    ("reset password", "operating"),
    ("rate limit", "operating"),
    ("webhook signature", "webhooks"),
    ("upgrade", "upgrading"),
    ("proxy", "install"),
    ("CORS", "gateway"),
    ("Redis", "operating"),
    ("PostgreSQL", "operating"),
    ("OIDC", "sign-in"),
    ("budget", "budgets"),
    ("delete user", "operating"),
    ("logs", "operating"),
    ("metrics", "usage"),
    ("MCP server", "mcp"),
    ("approval", "manifest"),
]
"""Terms that operators search for, and the page that answers each."""

pytestmark = pytest.mark.skipif(
    not MKDOCS.exists(), reason="Docs site tests skipped: there is no .venv-docs (make docs)."
)


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def docs_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("docs-site")
    subprocess.run(
        [MKDOCS, "build", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=True,
        timeout=240,
    )
    handler = partial(QuietHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def docs_page(browser: Browser, docs_url: str) -> Iterator[Page]:
    page = browser.new_page(base_url=docs_url)
    yield page
    page.close()


def first_pages(page: Page, term: str) -> list[str]:
    """Return the names of the first three pages that a search finds."""
    page.goto(f"/index.html?q={term}")
    page.locator(RESULTS).first.wait_for(timeout=60_000)
    links = page.locator(RESULTS).evaluate_all("links => links.map(link => link.pathname)")
    return [*dict.fromkeys(Path(link).stem for link in links)][:3]


@pytest.mark.slow("builds the docs, and searches in a browser")
@each_row(("term", "expected"), SEARCHES)
def test_the_search_finds_the_page_among_the_first_three(term, expected, docs_page):
    assert expected in first_pages(docs_page, term)


def test_pages_load_nothing_from_other_hosts(browser: Browser, docs_url: str):
    page = browser.new_page(base_url=docs_url)
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))

    first_pages(page, "backup")
    page.goto("/manifest.html")
    page.close()

    assert [url for url in requested if not url.startswith(docs_url)] == []
    assert any(url.endswith("search_index.json") for url in requested)
