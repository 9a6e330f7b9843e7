"""The pages in other languages: all that is read is translated, and stands on its right side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import barriers, sign_in_as_admin, watch
from tests.browser.serving import Site, serve
from tests.browser.test_demo import wait_for_answer
from tools.texts.catalogues import DOMAINS, compiled, extracted, forms

CONTENT = """
from django.contrib.auth.models import User
User.objects.create_superuser("admin", "", "a-long-password-for-tests")
"""
UNMARKED = """
() => {
  const skipped = "[dir=auto], code, kbd, pre, script, style, time, svg, noscript, .brand, .tile, #page-data";
  const found = [];
  let depth = 0;
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node instanceof Element) {
      for (const name of ["title", "aria-label", "aria-description", "placeholder", "alt"]) {
        const text = node.getAttribute(name) ?? "";
        if (/\\p{L}{2,}/u.test(text) && !text.includes("⟦")) found.push(`${name}: ${text}`);
      }
      continue;
    }
    const isSkipped = node.parentElement.closest(skipped);
    for (const part of node.data.split(/(?=[⟦⟧])/)) {
      if (part.startsWith("⟦")) depth += 1;
      if (part.startsWith("⟧")) depth -= 1;
      if (!depth && !isSkipped && /\\p{L}{2,}/u.test(part)) found.push(part.trim());
    }
  }
  return found;
}
"""


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site whose German has every text of ours between ⟦ and ⟧."""
    texts = tmp_path_factory.mktemp("texts")
    for domain in DOMAINS:
        path = texts / "de" / "LC_MESSAGES" / f"{domain}.mo"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(compiled(with_marks(extracted(domain))))
    folder = tmp_path_factory.mktemp("site")
    settings = {
        "DJANGO_SETTINGS_MODULE": "tests.browser.marked_settings",
        "MARKED_TEXTS": str(texts),
    }
    with serve(folder, **settings) as site:
        site.manage("import_content")
        site.shell(CONTENT)
        yield site


def with_marks(texts: Catalog) -> Catalog:
    made = Catalog(locale="de", charset="utf-8", fuzzy=False)
    for one in texts:
        if one.id:
            marked = tuple(f"⟦{text}⟧" for text in forms(one.id))
            string = marked[0] if isinstance(one.id, str) else marked
            made.add(one.id, string, context=one.context)
    return made


@pytest.fixture
def german(browser: Browser, marked: Site) -> Iterator[Page]:
    context = browser.new_context(base_url=marked.url, locale="de", service_workers="block")
    page = context.new_page()
    problems = watch(page)
    yield page
    context.close()
    assert problems == []


ENTRANCES = ("/", "/settings/", "/login/", "/nothing/", "/share/nothing/", "/accounts/signup/")


@pytest.mark.parametrize("address", ENTRANCES)
def test_visitors_read_nothing_that_is_not_translated(german: Page, address):
    german.goto(address)

    assert german.evaluate(UNMARKED) == []


OWN_PAGES = (
    "/", "/settings/", "/settings/data/", "/account/", "/account/delete/", "/prompts/", "/prompts/new/",
    "/approvals/", "/connections/", "/memory/", "/notes/", "/teams/", "/schedules/",
)  # fmt: skip


@pytest.mark.parametrize("address", OWN_PAGES)
def test_nothing_on_the_pages_of_an_account_is_not_translated(german: Page, marked: Site, address):
    sign_in_as_admin(german, marked)

    german.goto(address)

    assert german.evaluate(UNMARKED) == []
