"""Notifications on the page: the tab's title and icon, browser notifications, quiet hours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import barriers
from tests.contract import proves
from tests.sites.serving import Site

# The page is told that it is hidden, and its notifications are recorded.
RECORDING = """
    window.shown = [];
    window.isHidden = false;
    Object.defineProperty(document, "hidden", { get: () => window.isHidden });
    window.Notification = class extends EventTarget {
        static permission = "granted";
        static requestPermission = async () => "granted";
        constructor(title, options) {
            super();
            window.shown.push([title, options.body]);
            window.last = this;
        }
        close() {}
    };
"""
PREPARE = """
from django.contrib.auth.models import User
from apps.catalog.models import Application
from apps.conversations.models import Conversation
manifest = {
    "orchestrator": {"deployment": {"deployment_id": "demo-model"}}, "contexts": [], "tool_sets": []
}
User.objects.create_user("ada", password="a-password-for-tests")
for slug in ("near", "far"):
    Application.objects.create(slug=slug, title=slug.title(), manifest=manifest, is_shared=True)
"""
ANSWERED = """
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from apps.catalog.models import Application
from apps.conversations.models import Conversation
user = User.objects.get(username="ada")
row = Conversation.objects.create(
    application=Application.objects.get(slug="far"), owner=f"user-{user.pk}", title="Far", is_unread=True
)
result = f"/chat/far/{row.pk}/"
"""
QUIET = """
from datetime import time
from django.contrib.auth.models import User
from apps.accounts.models import NoticeSettings
NoticeSettings.objects.update_or_create(
    user=User.objects.get(username="ada"),
    defaults={"quiet_from": time(0), "quiet_until": time(0), "time_zone": "Europe/Riga"},
)
"""
PATIENCE = 60_000
"""In milliseconds. Without messages from other processes, a page polls every 15 seconds."""


@pytest.fixture
def told(site: Site, demo_model: None) -> Iterator[Site]:
    site.shell(PREPARE)
    yield site
    site.shell(
        """
        from django.contrib.auth.models import User
        from apps.catalog.models import Application
        from apps.conversations.models import Conversation
        Conversation.objects.all().delete()
        Application.objects.filter(slug__in=("near", "far")).delete()
        User.objects.filter(username="ada").delete()
        """
    )


def sign_in(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/accounts/login/?next=/account/")
    page.fill("[name=username]", "ada")
    page.fill("[name=password]", "a-password-for-tests")
    page.click("main button[type=submit], main button:not([type])")
    page.wait_for_url("**/account/")


def hide(page: Page, is_hidden: bool) -> None:
    page.evaluate(
        "hidden => { window.isHidden = hidden; document.dispatchEvent(new Event('visibilitychange')); }",
        is_hidden,
    )


def icon(page: Page) -> str:
    return str(page.get_attribute("link[rel=icon]", "href")).rsplit("/", 1)[-1].split(".")[0]


def shown(page: Page) -> Any:
    return page.evaluate("window.shown")


@pytest.mark.slow("waits for notices of several answers")
@proves("notices")
def test_the_tab_counts_what_is_not_seen_and_a_hidden_one_notifies_outside_of_quiet_hours(
    told: Site, context: BrowserContext
):
    context.add_init_script(RECORDING)
    page = context.new_page()
    sign_in(page, told)
    notices = page.locator("browser-notices")
    expect(notices).to_contain_text("Notifications are off.")
    notices.get_by_role("button").click()
    expect(notices).to_contain_text("Notifications are on.")
    assert barriers(page) == []

    page.goto(f"{told.url}/chat/near/")
    expect(page).to_have_title("Near")
    assert icon(page) == "icon"
    hide(page, True)
    page.fill("#question", "Count to three.")
    page.keyboard.press("Enter")
    expect(page).to_have_title("(1) Count to three. · Near", timeout=PATIENCE)
    first = shown(page)
    dotted = icon(page)
    hide(page, False)
    expect(page).to_have_title("Count to three. · Near", timeout=PATIENCE)
    hide(page, True)
    address = told.shell(ANSWERED)
    expect(page).to_have_title("(1) Count to three. · Near", timeout=PATIENCE)
    page.wait_for_function("window.shown.length === 2")
    told.shell(QUIET)
    told.shell(ANSWERED)
    expect(page).to_have_title("(2) Count to three. · Near", timeout=PATIENCE)
    both = shown(page)
    page.evaluate("window.last.dispatchEvent(new Event('click'))")
    page.wait_for_url(f"**{address}")

    assert (first, dotted) == ([["Near", "Answered"]], "icon-dot")
    assert both == [["Near", "Answered"], ["Far", "Answered"]]
