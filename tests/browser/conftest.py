"""A browser, and the real site for it.

The browser is stopped after the tests of this package, which one process runs one after the other:
while it runs, its event loop would be in the way of the asynchronous tests of the same process.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import pytest

from tests import chromium
from tests.browser.serving import Site, serve
from tests.launched import LAUNCHED

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from axe_playwright_python.sync_playwright import Axe  # noqa: E402
from playwright.sync_api import (  # noqa: E402
    Browser,
    BrowserContext,
    Page,
    expect,
    sync_playwright,
)

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


expect.set_options(timeout=60_000)  # for machines that are busy with other things


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site with one account, ADMIN, and nothing else. Tests share it: use names of your own."""
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
        service_workers="block",  # what a worker fetches cannot be routed by a test
    )
    made.set_default_timeout(60_000)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page of a visitor. The test fails if a script broke or the content policy refused one."""
    opened = context.new_page()
    problems = watch(opened)
    yield opened
    assert problems == []


@pytest.fixture
def admin_page(site: Site, page: Page) -> Page:
    """The page of somebody who is signed in as ADMIN and has not opened anything yet."""
    sign_in_as_admin(page, site)
    return page


def sign_in_as_admin(page: Page, site: Site) -> None:
    """Give the page a session of ADMIN, without the form, whose password takes its time."""
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
    """What goes wrong on the page from now on: uncaught exceptions and refused resources."""
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


LOOKS: tuple[tuple[Literal["light", "dark"], int], ...] = (("light", 1280), ("dark", 390))
SETTLED = """
Promise.all(document.getAnimations()
  .filter((one) => one.effect?.getComputedTiming().endTime !== Infinity)
  .map((one) => one.finished.catch(() => {})))
"""
"""Colours are on their way for a moment after a theme has changed."""


def barriers(page: Page) -> list[str]:
    """What axe finds that keeps people out: one line for each rule and element.

    What it finds once only was on its way: a colour that fades, a label that is drawn next.
    """
    return look_for_barriers(page) and look_for_barriers(page)


def look_for_barriers(page: Page) -> list[str]:
    page.evaluate(f"async () => {{ await {SETTLED.strip()} }}")
    return [
        f"{violation['id']}: {node['html'][:200]}"
        for violation in Axe().run(page).response["violations"]
        for node in violation["nodes"]
    ]


def barriers_of_looks(page: Page) -> list[str]:
    """The barriers of the page as it stands, light on a desktop and dark on a phone."""
    found = []
    for scheme, width in LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        found += [f"{scheme} {width}: {one}" for one in barriers(page)]
    return found
