"""The pages in other languages: all texts are translated, and the layout follows the direction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import allauth
import django
import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo
from django.conf import settings as django_settings
from playwright.sync_api import Browser, Page, expect

from apps.datetimes import zone_names
from tests.browser.chat.test_demo import DRAWN, TOOLS
from tests.browser.conftest import watch
from tests.sites.serving import Site, serve
from tools.texts.catalogues import DOMAINS, compiled, extracted, forms

CONTENT = """
from django.contrib.auth.models import User
from apps.catalog.models import Application
User.objects.create_superuser("42", "", "a-long-password-for-tests")
texts = [[row.title, row.description, row.manifest.get("conversation_starters", {}).get("intro_text")] for row in Application.objects.all()]
result = [text for those in texts for text in those if text]
"""
SIGN_IN = """
from django.contrib.auth.models import User
from django.test import Client
client = Client()
client.force_login(User.objects.get(username="42"))
result = client.session.session_key
"""
UNMARKED = """
() => {
  const skipped = "[dir=auto], code, kbd, pre, script, style, time, svg, noscript, .brand, .monogram, #palette-found [role=option]";
  const found = [];
  let depth = 0;
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node instanceof Element) {
      if (node.localName === "time") continue;
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
      const text = part.replace(/^⟧/, "").replace(" · QuickApps", "").trim();
      if (!depth && !isSkipped && /\\p{L}{2,}/u.test(text)) found.push(text);
    }
  }
  return found;
}
"""


@dataclass(frozen=True, slots=True)
class MarkedSite:
    """A site whose German has every text of ours between ⟦ and ⟧.

    `titles` are the texts of applications; `known` is what else may be unmarked.
    """

    site: Site
    titles: tuple[str, ...]
    known: frozenset[str]

    def unmarked(self, page: Page) -> list[str]:
        found = page.evaluate(UNMARKED)
        mine = [one for one in found if not any(title in one for title in self.titles)]
        return [one for one in mine if one not in self.known]


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MarkedSite]:
    texts = tmp_path_factory.mktemp("texts")
    for domain in DOMAINS:
        path = texts / "de" / "LC_MESSAGES" / f"{domain}.mo"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(compiled(with_marks(extracted(domain))))
    folder = tmp_path_factory.mktemp("site")
    settings = {
        "DJANGO_SETTINGS_MODULE": "tests.browser.user_pages.marked_settings",
        "MARKED_TEXTS": str(texts),
    }
    with serve(folder, **settings) as site:
        site.manage("import_content")
        titles = site.shell(CONTENT)
        names = [name for _, name in django_settings.LANGUAGES]
        zones = [name.replace("_", " ") for name in zone_names()]
        yield MarkedSite(
            site, tuple(titles), frozenset([*names, *zones, "(UTC)", *german_of_libraries()])
        )


def german_of_libraries() -> Iterator[str]:
    """Return the German texts of Django and allauth."""
    folders = (Path(django.__file__).parent / "conf", Path(allauth.__file__).parent)
    for folder in folders:
        with (folder / "locale/de/LC_MESSAGES/django.mo").open("rb") as file:
            yield from (str(one.string).strip() for one in read_mo(file))


def with_marks(texts: Catalog) -> Catalog:
    made = Catalog(locale="de", charset="utf-8", fuzzy=False)
    for one in texts:
        if one.id:
            marked = tuple(f"⟦{text}⟧" for text in forms(one.id))
            string = marked[0] if isinstance(one.id, str) else marked
            made.add(one.id, string, context=one.context)
    return made


@pytest.fixture
def german(browser: Browser, marked: MarkedSite) -> Iterator[Page]:
    context = browser.new_context(base_url=marked.site.url, locale="de", service_workers="block")
    page = context.new_page()
    problems = watch(page)
    yield page
    context.close()
    assert problems == []


ENTRANCES = (
    "/",
    "/settings/",
    "/accounts/login/",
    "/nothing/",
    "/share/nothing/",
    "/accounts/signup/",
)


@pytest.mark.parametrize("address", ENTRANCES)
def test_visitors_read_nothing_that_is_not_translated(german: Page, marked: MarkedSite, address):
    german.goto(address)

    assert marked.unmarked(german) == []


OWN_PAGES = (
    "/", "/settings/", "/settings/data/", "/account/", "/account/delete/", "/prompts/", "/prompts/new/",
    "/approvals/", "/connections/", "/memory/", "/notes/", "/teams/", "/scheduled/", "/scheduled/new/", "/notes/new/", "/accounts/email/",
)  # fmt: skip


@pytest.mark.parametrize("address", OWN_PAGES)
def test_nothing_on_the_pages_of_an_account_is_not_translated(
    german: Page, marked: MarkedSite, address
):
    sign_in(german, marked.site)

    german.goto(address)

    assert marked.unmarked(german) == []


def sign_in(page: Page, site: Site) -> None:
    session = site.shell(SIGN_IN)
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": site.url}])


@pytest.fixture
def conversation(german: Page, marked: MarkedSite) -> Page:
    """Open an answer with steps, in the conversation of a user with an account."""
    sign_in(german, marked.site)
    german.goto("/chat/demo/")
    german.locator("#question").fill(TOOLS)
    german.locator("#question").press("Enter")
    expect(german.locator("chat-answer .answer-foot")).to_be_visible()
    expect(german.locator("chat-history .row-more").first).to_be_attached()
    return german


def test_an_empty_chat_has_nothing_that_is_not_translated(german: Page, marked: MarkedSite):
    sign_in(german, marked.site)

    german.goto("/chat/demo/")
    expect(german.get_by_role("button", name="Several tools at once")).to_be_visible()

    assert marked.unmarked(german) == []


def test_an_answer_and_its_steps_are_translated(conversation: Page, marked: MarkedSite):
    for summary in conversation.locator("chat-answer summary").all():
        summary.evaluate("(one) => one.parentElement.open = true")
    conversation.evaluate(DRAWN)

    assert marked.unmarked(conversation) == []


@pytest.mark.parametrize("keys", ["Control+/", "Control+k"])
def test_what_a_shortcut_opens_is_translated(conversation: Page, marked: MarkedSite, keys):
    conversation.keyboard.press(keys)
    expect(conversation.locator("dialog[open]")).to_be_visible()
    conversation.evaluate(DRAWN)

    assert marked.unmarked(conversation) == []


def test_the_menu_of_a_conversation_and_its_dialogs_are_translated(
    conversation: Page, marked: MarkedSite
):
    found = []
    conversation.locator("chat-history .row-more").first.dispatch_event("click")
    menu = conversation.locator(".row-menu:popover-open")
    expect(menu).to_be_visible()
    found += marked.unmarked(conversation)
    for name in ("rename", "move", "go-on", "share"):
        menu.locator(f"[data-item={name}]").click()
        expect(conversation.locator("dialog[open]")).to_be_visible()
        conversation.evaluate(DRAWN)
        found += marked.unmarked(conversation)
        conversation.keyboard.press("Escape")
        conversation.locator("chat-history .row-more").first.dispatch_event("click")

    assert found == []


def test_files_and_feedback_are_translated(conversation: Page, marked: MarkedSite):
    conversation.locator("#files-button").dispatch_event("click")
    conversation.locator(".thumbs button").last.dispatch_event("click")
    expect(conversation.locator(".feedback-form")).to_be_visible()

    assert marked.unmarked(conversation) == []
