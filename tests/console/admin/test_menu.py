"""The admin's menu contains the pages that apps declare, if the user may see them."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from apps.accounts.preferences import Preferences
from apps.console.menu import declared_pages, page_url
from tests.catalog.rows import make_operator

pytestmark = pytest.mark.django_db

SITE: Any = admin.site
MOST_ENTRIES = 24
"""Users cannot find an entry at a glance among more than these."""


def shown(rf, user: User) -> dict[str, list[str]]:
    request = rf.get("/admin/")
    request.user, request.session = user, {}
    groups = SITE.get_sidebar_list(request)
    return {
        group["title"]: [item["title"] for item in group["items"] if item["has_permission"]]
        for group in groups
    }


def part(html: str, pattern: str) -> str:
    found = re.search(pattern, html, re.DOTALL)
    return " ".join(unescape(re.sub("<[^>]+>", "", found[1])).split()) if found else ""


def names_on(client: Client, url: str) -> dict[str, str]:
    """Return the names of a page in the title, the breadcrumbs, the menu and the tab."""
    html = client.get(url).content.decode()
    tabs = part(html, r'(<nav class="section-tabs".*?</nav>)')
    found = {
        "title": part(html, r"<title>(.*?)</title>").partition(" | ")[0],
        "breadcrumb": part(html, r"<h1>(.*?)</h1>"),
    }
    if tabs:
        found["tab"] = part(html, r'class="section-tabs".*?aria-current="page">(.*?)</a>')
    return found


def test_an_administrator_sees_all_entries_in_their_order(rf):
    root = User.objects.create_superuser("root")

    entries = shown(rf, root)

    assert entries == {
        "Build": [
            *("Applications", "Predefined content", "Deployments", "MCP servers", "Secrets"),
            "Shared files",
        ],
        "Watch": ["Home", "Runs", "Feedback", "Usage", "Errors", "Background jobs"],
        "Govern": [
            *("Users", "Groups", "Teams", "Budgets", "API keys", "Audit", "System messages"),
        ],
        "Automate": ["Schedules", "Webhooks"],
        "Elsewhere": ["Chat page", "Admin API"],
    }
    assert sum(map(len, entries.values())) <= MOST_ENTRIES


def test_staff_see_a_tab_that_they_may_open_in_place_of_its_entry(rf):
    anna = User.objects.create_user("anna", is_staff=True)
    anna.user_permissions.add(Permission.objects.get(codename="view_price"))

    assert shown(rf, anna) == {
        "Build": ["Prices"],
        "Watch": ["Home"],
        "Govern": [],
        "Automate": [],
        "Elsewhere": ["Chat page", "Admin API"],
    }


def test_every_tab_belongs_to_an_entry():
    titles = [page.title for page in declared_pages()]
    tops = {page.title for page in declared_pages() if not page.below}

    assert len(titles) == len(set(titles))
    assert {page.below for page in declared_pages()} <= {"", *tops}


def test_the_entry_of_a_tab_is_active_on_its_page(rf):
    request = rf.get(reverse("admin:workspace_mcpserver_sessions"))
    request.user = User.objects.create_superuser("root")

    groups = SITE.get_sidebar_list(request)

    active = [item["title"] for group in groups for item in group["items"] if item["active"]]
    assert active == ["MCP servers"]


def test_a_page_has_the_same_name_in_menu_title_breadcrumbs_and_tab(client, settings):
    settings.DEV_ENDPOINTS = True
    client.force_login(make_operator())

    different = {
        page.title: names
        for page in declared_pages()
        if {*(names := names_on(client, page_url(page))).values()} != {page.title}
    }

    assert different == {}


def test_an_empty_list_says_what_it_is_for_and_has_its_first_button(client):
    client.force_login(make_operator())

    html = client.get(reverse("admin:workspace_secret_changelist")).content.decode()

    assert part(html, r'<div class="list-empty">(.*?)</div>') == (
        "No secrets yet Credentials of tools, stored encrypted under names that manifests refer to."
        " Add secret"
    )


def test_a_search_without_results_offers_to_clear_it(client):
    client.force_login(make_operator())

    html = client.get(reverse("admin:workspace_secret_changelist"), {"q": "x"}).content.decode()

    assert part(html, r'<div class="list-empty">(.*?)</div>') == (
        "Nothing found for “x” Try other words. Clear search"
    )


def test_the_mark_is_bright_in_the_dark_theme(client, operator):
    page = client.get("/admin/").text

    marks = re.findall(r'<img src="[^"]*/(icon[^"]*)\.svg" alt="Home" class="([^"]*)"', page)
    assert [(name.split(".")[0], places.split()) for name, places in marks] == [
        ("icon-dark", ["h-[38px]", "hidden", "dark:block"]),
        ("icon", ["block", "h-[38px]", "dark:hidden"]),
    ]


def test_the_account_menu_has_the_portrait_and_the_theme_of_the_pages(client):
    operator = make_operator()
    client.force_login(operator)
    Preferences.objects.create(user=operator, theme="dark")

    html = client.get("/admin/").content.decode()

    assert part(html, r'(<span class="portrait".*?</span>)') == "o"
    _, _, menu = html.partition('<nav class="account"')
    entries = re.findall(r"</svg>\s*(?:<span>)?([A-Z][\w ]+)<", menu.partition("</nav>")[0])
    assert entries == ["Account", "Settings", "Chat", "Sign out"]
    assert re.search(r'<script src="[^"]*/theme[^"]*\.js" data-theme="dark">', html)
