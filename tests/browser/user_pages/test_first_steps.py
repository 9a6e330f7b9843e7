"""An administrator of a new installation makes an app from a template in three steps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chat.test_demo import wait_for_answer
from tests.browser.conftest import ADMIN, barriers_of_looks, sign_in_as_admin
from tests.sites.serving import Site, serve


@pytest.fixture
def new_installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serve(tmp_path_factory.mktemp("site")) as site:
        site.shell(
            """
            from django.contrib.auth.models import User
            User.objects.create_superuser(name, "", password)
            """,
            name=ADMIN["username"],
            password=ADMIN["password"],
        )
        site.manage("import_content")
        yield site


@pytest.mark.slow("a walk through several pages in a browser, with a site of its own")
def test_an_administrator_takes_the_three_steps_on_the_keyboard(page: Page, new_installation: Site):
    site = new_installation
    sign_in_as_admin(page, site)
    page.goto(f"{site.url}/")
    steps = page.get_by_role("region", name="Your first app in three steps")
    found = barriers_of_looks(page)
    steps.get_by_role("button", name="Continue with the demo model").press("Enter")
    expect(steps.get_by_role("heading", name="Connect a model (Done)")).to_be_visible()

    steps.get_by_role("link", name="Create an app").press("Enter")
    gallery = page.get_by_role("list", name="Start from a template")
    expect(gallery.get_by_role("listitem")).to_have_count(8)
    found += barriers_of_looks(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1280, "height": 900})
    gallery.get_by_role("button", name="Support desk").press("Enter")
    page.get_by_role("button", name="An order", exact=True).press("Enter")
    expect(page.get_by_role("listitem").filter(has_text="State: on its way")).to_be_visible()
    page.get_by_role("button", name="Publish…", exact=True).click()
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.locator(".studio-bar .studio-status")).to_have_text("Published as version 1.")

    page.goto(f"{site.url}/")
    steps.get_by_role("link", name="Try your app").press("Enter")
    page.get_by_role("button", name="An order", exact=True).press("Enter")
    answer = wait_for_answer(page)
    page.goto(f"{site.url}/")
    expect(page.get_by_role("heading", name="Hello, admin")).to_be_visible()

    assert "on its way" in answer
    assert (found, steps.count()) == ([], 0)
