"""A browser, and the real site for it.

The browser is stopped after the tests of this package, which one process runs in sequence. While it
runs, its event loop would block the asynchronous tests of the same process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import pytest

from tests.browsers import chromium
from tests.sites.serving import Site, serve
from tests.suite.launched import LAUNCHED

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from axe_playwright_python.sync_playwright import Axe  # noqa: E402
from playwright.sync_api import (  # noqa: E402
    Browser,
    BrowserContext,
    Page,
    expect,
    sync_playwright,
)

ACCOUNT = re.compile("^Account")
ADMIN = {"username": "admin", "password": "a-long-password-for-tests"}
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
)


expect.set_options(timeout=60_000)  # for busy machines


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Serve the site with a single account, ADMIN. Tests share the site, so use unique names."""
    with serve(tmp_path_factory.mktemp("site")) as served:
        served.shell(
            """
            from django.contrib.auth.models import User
            User.objects.create_superuser(name, "", password)
            """,
            name=ADMIN["username"],
            password=ADMIN["password"],
        )
        yield served


@pytest.fixture(scope="session")
def demo_model(site: Site) -> None:
    site.shell(
        """
        Deployment.objects.get_or_create(
            deployment_id="demo-model", defaults={"display_name": "Demo", "provider": "demo"}
        )
        """
    )


@pytest.fixture(scope="module", autouse=True)
def catalog_of_the_module(site: Site, demo_model: None) -> Iterator[None]:
    """Delete the applications and deployments of a module after its tests.

    Pages offer and prefer what they find in the catalog, so that rows of one module would
    change what the tests of the next one see.
    """
    before = site.shell(
        "result = [[row.pk for row in rows.objects.all()] for rows in (Application, Deployment)]"
    )
    yield
    site.shell(
        """
        for rows, kept in zip((Application, Deployment), before):
            rows.objects.exclude(pk__in=kept).delete()
        """,
        before=before,
    )


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        executable = chromium.find(playwright.chromium.executable_path)
        if executable is None:
            pytest.skip(chromium.ABSENCE)
        LAUNCHED["Chromium"] += 1
        launched = playwright.chromium.launch(executable_path=executable, args=SWITCHES)
        yield launched
        launched.close()


@pytest.fixture
def context(browser: Browser, site: Site) -> Iterator[BrowserContext]:
    """A fresh browser profile; paths are relative to the site."""
    made = browser.new_context(
        base_url=site.url,
        viewport={"width": 1280, "height": 900},
        service_workers="block",  # tests cannot route requests of a worker
    )
    made.set_default_timeout(60_000)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """Yield a page of a visitor. The test fails if a script threw or violated the content security
    policy."""
    opened = context.new_page()
    problems = watch(opened)
    yield opened
    assert problems == []


@pytest.fixture
def admin_page(site: Site, page: Page) -> Page:
    """Yield a page with a session of ADMIN, on which nothing was opened yet."""
    sign_in_as_admin(page, site)
    return page


def sign_in_as_admin(page: Page, site: Site) -> None:
    """Give the page a session of ADMIN, without the form, whose password check is slow."""
    session = site.shell(
        """
        from django.contrib.auth.models import User
        from django.test import Client
        client = Client()
        client.force_login(User.objects.get(username=name))
        result = client.session.session_key
        """,
        name=ADMIN["username"],
    )
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": site.url}])


def watch(page: Page) -> list[str]:
    """Record problems of the page from now on: uncaught exceptions and refused resources."""
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(f"{page.url}: {error.stack or error}"))
    page.on(
        "console",
        lambda message: (
            problems.append(f"{page.url}: {message.text}")
            if "Content Security Policy" in message.text
            else None
        ),
    )
    return problems


SCHEMES: tuple[Literal["light", "dark"], ...] = ("dark", "light")
LOOKS: tuple[tuple[Literal["light", "dark"], int], ...] = (("light", 1280), ("dark", 390))
SETTLED = """
Promise.all(document.getAnimations()
  .filter((one) => one.timeline === document.timeline)
  .filter((one) => one.effect?.getComputedTiming().endTime !== Infinity)
  .map((one) => one.finished.catch(() => {})))
"""
"""Colours fade for a moment after a change of the theme. Animations of a scroll never finish."""


def open_account(page: Page) -> None:
    """Open the account menu at the foot of the sidebar, which a narrow window hides."""
    menu = page.get_by_role("button", name="Menu", exact=True)
    if menu.is_visible():
        menu.click()
    page.get_by_role("button", name=ACCOUNT).click()


def sign_out(page: Page) -> None:
    open_account(page)
    page.get_by_role("button", name="Sign out", exact=True).click()


def open_more(page: Page) -> None:
    """Open the menu of the current conversation."""
    page.get_by_role("button", name="More options for this conversation").press("Enter")


def pick(page: Page, field: str, option: str) -> None:
    """Choose an option in the list of a field for named things, with the keyboard."""
    page.get_by_role("button", name=f"{field}:").press("ArrowDown")
    page.get_by_role("option", name=option).press("Enter")
    expect(page.get_by_role("button", name=f"{field}: {option}")).to_be_focused()


def barriers(page: Page) -> list[str]:
    """Return the accessibility problems that axe finds, one line for each rule and element.
    Problems that it finds only once are temporary, such as a fading color or an unfinished label.
    """
    return look_for_barriers(page) and look_for_barriers(page)


def look_for_barriers(page: Page) -> list[str]:
    page.evaluate(f"async () => {{ await {SETTLED.strip()} }}")
    return [
        f"{violation['id']}: {node['html'][:200]}"
        for violation in Axe().run(page).response["violations"]
        for node in violation["nodes"]
    ]


def barriers_of_schemes(page: Page) -> list[str]:
    """Return the accessibility problems of the current page in both color schemes. Leaves it light."""
    found = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        found += [f"{scheme}: {one}" for one in barriers(page)]
    return found


def barriers_of_looks(page: Page) -> list[str]:
    """Return the accessibility problems of the current page, light on a desktop and dark on a
    phone."""
    found = []
    for scheme, width in LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        found += [f"{scheme} {width}: {one}" for one in barriers(page)]
    return found
