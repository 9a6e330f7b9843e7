"""Two operators edit one row; the history of an application, and undo."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import ADMIN, barriers, watch
from tests.sites.serving import Site

LIST = "/admin/catalog/application/"
DEPLOYMENTS = "/admin/workspace/deployment/"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
MANIFEST = {
    "orchestrator": {"deployment": {"deployment_id": "demo-model"}},
    "contexts": [{"type": "file", "url": "files/public/a.txt"}],
    "tool_sets": [],
}


@pytest.fixture
def shared(site: Site) -> Iterator[int]:
    """Return the id of an application."""
    number: int = site.shell(
        """
        from apps.catalog.versions.version_recorder import save_live
        row = Application(slug="shared", title="Shared", description="Old", manifest=manifest)
        save_live(row)
        result = row.pk
        """,
        manifest=MANIFEST,
    )
    yield number
    site.shell("Application.objects.filter(pk=number).delete()", number=number)


@pytest.fixture
def contested(site: Site) -> Iterator[str]:
    """Open the form of a deployment that two users edit; the second one is `ben`."""
    number: int = site.shell(
        """
        from django.contrib.auth.models import User
        User.objects.create_superuser("ben", "", password)
        row = Deployment(
            deployment_id="contested", display_name="Contested", provider="demo", parameters={"seed": 1}
        )
        row.save()
        result = row.pk
        """,
        password=ADMIN["password"],
    )
    yield f"{DEPLOYMENTS}{number}/change/"
    site.shell(
        """
        from django.contrib.auth.models import User
        Deployment.objects.filter(pk=number).delete()
        User.objects.filter(username="ben").delete()
        """,
        number=number,
    )


@pytest.fixture
def ben(browser: Browser, site: Site) -> Iterator[Page]:
    """Yield the page of the second user, in a dark browser without scripts."""
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


def stored(site: Site) -> Any:
    return site.shell(
        """
        row = Deployment.objects.get(deployment_id="contested")
        result = [row.display_name, row.model_name, row.description, row.parameters, row.version]
        """
    )


def describe(site: Site, text: str) -> None:
    site.shell(
        """
        row = Deployment.objects.get(deployment_id="contested")
        row.description = text
        row.save()
        """,
        text=text,
    )


def save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()


@pytest.mark.slow("a walk through several pages in a browser")
def test_two_edits_of_one_row_become_one(site: Site, admin_page: Page, contested: str, ben: Page):
    first, second = admin_page, ben
    sign_in(second, "ben")
    first.goto(contested)
    second.goto(contested)
    first.locator("[name=model_name]").fill("shared-by-two")
    first.locator("[name=description]").fill("Of the first")
    save(first)
    first.wait_for_url(f"**{DEPLOYMENTS}")

    second.locator("[name=display_name]").fill("Of the second")
    second.locator("[name=description]").fill("Of the second, too")
    second.locator("[name=parameters]").fill('{"seed": 2}')
    save(second)

    panel = second.get_by_role("region", name="Another user saved this in the meantime")
    expect(panel).to_contain_text("admin")
    expect(panel.get_by_text("Model name", exact=True)).to_be_visible()
    expect(panel.get_by_text(re.compile("^Parameters . Seed$"))).to_be_visible()
    expect(second.locator("[name=parameters]")).to_have_value('{"seed": 2}')
    second.get_by_label("The saved value").check()
    second.get_by_role("button", name="Merge and save").click()
    second.wait_for_url(f"**{DEPLOYMENTS}")

    assert stored(site) == ["Of the second", "shared-by-two", "Of the first", {"seed": 2}, 3]


@pytest.mark.slow("axe reads pages in a browser, one after the other")
def test_the_panel_of_a_conflict_keeps_nobody_out_and_is_used_by_keyboard(
    site: Site, admin_page: Page, contested: str
):
    page = admin_page
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        page.goto(contested)
        page.locator("[name=description]").fill("Mine")
        describe(site, f"Theirs, {scheme}")
        save(page)
        expect(page.locator("#conflict")).to_be_visible()
        assert (scheme, barriers(page)) == (scheme, [])

    page.get_by_label("Your input").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("The saved value")).to_be_checked()
    page.get_by_role("button", name="Merge and save").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{DEPLOYMENTS}")
    assert stored(site)[2] == "Theirs, dark"


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_deleted_application_is_found_and_restored(site: Site, admin_page: Page, shared: int):
    page = admin_page
    page.goto(f"{LIST}{shared}/versions/")
    page.get_by_role("link", name="Archive this application…").click()
    expect(page.get_by_role("heading", name="Archive", exact=True)).to_be_visible()
    assert barriers(page) == []
    page.get_by_role("button", name="Archive", exact=True).click()
    expect(page.get_by_text("Nobody can use this application.")).to_be_visible()
    assert barriers(page) == []
    page.get_by_role("link", name="Delete permanently…").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.wait_for_url(f"**{LIST}")

    assert barriers(page) == []
    page.get_by_role("link", name="Deleted").click()
    page.get_by_role("link", name="Shared", exact=True).first.click()  # the last one
    page.emulate_media(color_scheme="dark")
    page.reload()
    expect(page.get_by_role("heading", name="Previous values")).to_be_visible()
    assert barriers(page) == []
    page.get_by_role("link", name="Restore").click()
    expect(page.get_by_text("The row is restored with its old number")).to_be_visible()
    assert barriers(page) == []
    page.get_by_role("button", name="Restore").click()

    page.wait_for_url(f"**{LIST}{shared}/history/")
    expect(page.get_by_text("Shared was restored.")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(4)
    assert barriers(page) == []
    assert site.shell("result = Application.objects.get(pk=number).version", number=shared) == 3
