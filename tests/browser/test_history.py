"""Two operators at one application, what the history tells of it, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import ADMIN, barriers, watch
from tests.browser.serving import Site

LIST = "/admin/catalog/application/"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
MANIFEST = {
    "orchestrator": {"deployment": {"deployment_id": "demo-model"}},
    "contexts": [{"type": "file", "url": "files/public/a.txt"}],
    "tool_sets": [],
}


@pytest.fixture
def shared(site: Site) -> Iterator[int]:
    """The number of an application that two people edit; the second of them is `ben`."""
    number: int = site.shell(
        """
        from django.contrib.auth.models import User
        from apps.catalog.models import Application
        User.objects.create_superuser("ben", "", password)
        row = Application(slug="shared", title="Shared", description="Old", manifest=manifest)
        row.save()
        result = row.pk
        """,
        manifest=MANIFEST,
        password=ADMIN["password"],
    )
    yield number
    site.shell(
        """
        from django.contrib.auth.models import User
        from apps.catalog.models import Application
        Application.objects.filter(pk=number).delete()
        User.objects.filter(username="ben").delete()
        """,
        number=number,
    )


@pytest.fixture
def ben(browser: Browser, site: Site) -> Iterator[Page]:
    """The page of the second person, in a dark browser without scripts."""
    context = browser.new_context(base_url=site.url, color_scheme="dark", java_script_enabled=False)
    context.set_default_timeout(60_000)
    page = context.new_page()
    problems = watch(page)
    yield page
    context.close()
    assert problems == []


def sign_in(page: Page, name: str) -> None:
    page.goto("/admin/login/?next=/admin/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(ADMIN["password"])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/admin/")


def open_form(page: Page, number: int, *, scripts: bool = True) -> None:
    page.goto(f"{LIST}{number}/change/")
    if scripts:
        page.wait_for_selector("[role=tab][aria-selected=true]")


def stored(site: Site, number: int) -> Any:
    return site.shell(
        """
        from apps.catalog.models import Application
        row = Application.objects.get(pk=number)
        result = [row.title, row.slug, row.description, row.manifest["contexts"], row.version]
        """,
        number=number,
    )


def describe(site: Site, number: int, text: str) -> None:
    site.shell(
        """
        from apps.catalog.models import Application
        row = Application.objects.get(pk=number)
        row.description = text
        row.save()
        """,
        number=number,
        text=text,
    )


def save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()


@pytest.mark.slow("a walk through several pages in a browser")
def test_two_edits_of_one_application_become_one(
    site: Site, admin_page: Page, shared: int, ben: Page
):
    first, second = admin_page, ben
    second_url = f"{LIST}{shared}/change/"
    sign_in(second, "ben")
    open_form(first, shared)
    open_form(second, shared, scripts=False)
    first.locator("[name=slug]").fill("shared-by-two")
    first.locator("[name=description]").fill("Of the first")
    save(first)
    first.wait_for_url(f"**{LIST}")

    second.locator("[name=title]").fill("Of the second")
    second.locator("[name=description]").fill("Of the second, too")
    typed = second.locator("[name=manifest]").input_value().replace("a.txt", "b.txt")
    second.locator("[name=manifest]").fill(typed)
    save(second)

    panel = second.get_by_role("region", name="Somebody else saved this meanwhile")
    expect(panel).to_contain_text("admin")
    expect(panel.get_by_text("slug", exact=True)).to_be_visible()
    expect(panel.get_by_text("manifest.contexts[0].url", exact=True)).to_be_visible()
    expect(second.locator("[name=manifest]")).to_have_value(typed)
    second.get_by_label("What was saved meanwhile").check()
    second.get_by_role("button", name="Merge and save").click()
    second.wait_for_url(f"**{LIST}")
    assert second_url not in second.url

    contexts = [{"type": "file", "url": "files/public/b.txt"}]
    assert stored(site, shared) == ["Of the second", "shared-by-two", "Of the first", contexts, 3]


@pytest.mark.slow("axe reads pages in a browser, one after the other")
def test_the_panel_of_a_conflict_keeps_nobody_out_and_is_used_by_keyboard(
    site: Site, admin_page: Page, shared: int
):
    page = admin_page
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        open_form(page, shared)
        page.locator("[name=description]").fill("Mine")
        describe(site, shared, f"Theirs, {scheme}")
        save(page)
        page.wait_for_selector("[role=tab][aria-selected=true]")
        expect(page.locator("#conflict")).to_be_visible()
        assert (scheme, barriers(page)) == (scheme, [])

    page.get_by_label("What you typed").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("What was saved meanwhile")).to_be_checked()
    page.get_by_role("button", name="Merge and save").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{LIST}")
    assert stored(site, shared)[2] == "Theirs, dark"


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_deleted_application_is_found_and_restored(site: Site, admin_page: Page, shared: int):
    page = admin_page
    page.goto(f"{LIST}{shared}/versions/")
    page.get_by_role("button", name="Archive this application").click()
    expect(page.get_by_text("Nobody can use it.")).to_be_visible()
    assert barriers(page) == []
    page.get_by_role("link", name="Erase it for good").click()
    page.get_by_role("button", name="Yes, I").click()
    page.wait_for_url(f"**{LIST}")

    assert barriers(page) == []
    page.get_by_role("link", name="Deleted").click()
    page.get_by_role("link", name="Shared", exact=True).first.click()  # the last one
    page.emulate_media(color_scheme="dark")
    page.reload()
    expect(page.get_by_role("heading", name="What it was")).to_be_visible()
    assert barriers(page) == []
    page.get_by_role("link", name="Restore").click()
    expect(page.get_by_text("It comes back under its old number")).to_be_visible()
    assert barriers(page) == []
    page.get_by_role("button", name="Restore").click()

    page.wait_for_url(f"**{LIST}{shared}/history/")
    expect(page.get_by_text("Shared is restored.")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(4)
    assert barriers(page) == []
    assert stored(site, shared)[4] == 3
