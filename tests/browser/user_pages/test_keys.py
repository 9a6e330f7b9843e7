"""Users store their own keys of model services on the page "Connections"."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers, sign_in_as_admin
from tests.sites.serving import Site
from tests.workspace.local.key_service import KeyedService, serve_keyed

OWN = "sk-own-1234567890"
PREPARE = """
for number in (1, 2):
    Deployment.objects.create(
        deployment_id=f"keyed-{number}",
        display_name=f"Large model {number}",
        base_url=url,
        model_name="m",
        takes_personal_keys=True,
    )
orchestrator = {"deployment": {"deployment_id": "keyed-1"}, "system_prompt": {
    "type": "custom", "content": "You help.", "variables": {}
}}
Application.objects.create(
    slug="keyed",
    title="Keyed",
    is_public=True,
    manifest={
        "orchestrator": orchestrator,
        "contexts": [],
        "tool_sets": [],
        "features": {
            "timestamp": None, "model_keys": {"mode": "user_keys", "platform_pays": False}
        },
    },
)
"""


@pytest.fixture(scope="module")
def service(site: Site) -> Iterator[KeyedService]:
    with serve_keyed(OWN) as running:
        site.shell(PREPARE, url=running.url)
        yield running


@pytest.mark.slow("uses several pages in a browser")
def test_a_key_is_stored_and_tested_by_keyboard_and_pays_for_an_answer(
    page: Page, site: Site, service: KeyedService
):
    host = service.url.removeprefix("http://").removesuffix("/v1")
    sign_in_as_admin(page, site)
    page.goto(f"{site.url}/connections/")
    expect(
        page.get_by_text("You haven’t saved a key, so the installation’s key is used.")
    ).to_be_visible()
    page.get_by_label(f"Key for {host}").fill("sk-wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text(f"Your key for {host} was saved.")

    page.goto(f"{site.url}/chat/keyed/")
    page.get_by_role("textbox").first.fill("Is it open?")
    page.keyboard.press("Enter")
    refused = f"{host} did not accept your key. Check it under “Connections”."
    expect(page.locator(".failure")).to_contain_text(refused)

    page.goto(f"{site.url}/connections/")
    page.get_by_role("button", name=f"Test the key for {host}").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Check the key.")
    page.get_by_label(f"New key for {host}").fill(OWN)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Saved just now.")).to_be_visible()
    assert barriers(page) == []
    assert OWN not in page.content()

    page.goto(f"{site.url}/chat/keyed/")
    page.get_by_role("textbox").first.fill("Is it open?")
    page.keyboard.press("Enter")
    expect(page.locator("chat-answer").get_by_text("Yes.")).to_be_visible()
    assert service.sent == ["sk-wrong", "sk-wrong", OWN]
