"""An operator manages secrets in a real browser."""

from __future__ import annotations

import json
import os
from typing import Any, cast

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers
from tests.browser.studio.test_manifest_editor import put, save, stored, typed, wait_for_check
from tests.catalog.credentials.documents import MARK, manifest, tracking
from tests.sites.serving import Site

pytestmark = pytest.mark.usefixtures("demo_model")

LIST = "/admin/workspace/secret/"
SHOTS = os.environ.get("SHOTS", "")


def shoot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)


def make_secret(site: Site, name: str) -> str:
    number = site.shell(
        """
        row, _ = Secret.objects.get_or_create(
            name=name, defaults={"value": "sk-stored-0123456789", "servers": ["https://track.example.org"]}
        )
        result = row.pk
        """,
        name=name,
    )
    return f"{LIST}{number}/change/"


def test_a_secret_is_made_and_rotated_by_keyboard_and_its_value_is_never_seen(
    site: Site, admin_page: Page
):
    page = admin_page
    page.goto(f"{LIST}add/")
    page.get_by_label("Name").focus()
    page.keyboard.type("by-keyboard")
    page.get_by_label("Value").focus()
    page.keyboard.type(MARK)
    page.locator("textarea[name=servers]").focus()
    page.keyboard.type("api.example.org")
    page.get_by_role("button", name="Save", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="by-keyboard").first.click()

    expect(page.get_by_text("A value is stored.")).to_be_visible()
    assert MARK not in page.content()
    page.get_by_label("Value").fill("sk-rotated-0123456789")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("The new value is active. It is used by nobody.")).to_be_visible()
    assert site.shell("result = Secret.objects.get(name='by-keyboard').value") == (
        "sk-rotated-0123456789"
    )


@pytest.mark.slow("a walk through several pages in a browser")
def test_enter_in_a_field_saves_and_makes_a_secret_of_a_credential(site: Site, admin_page: Page):
    page = admin_page
    page.goto(put(site, "moved", manifest({**tracking(), "name": "moved"})))
    wait_for_check(page, "warning")
    expect(page.get_by_text("Saving turns it into a secret").first).to_be_visible()
    shoot(page, "plain")
    page.get_by_role("textbox", name="Deployment ID").fill("other-model")
    page.get_by_role("textbox", name="Deployment ID").press("Enter")

    expect(page.locator("[data-saved]")).to_have_text("Saved.")
    assert MARK not in page.content()
    shoot(page, "saved")
    assert stored(site, "moved")["tool_sets"][0]["authorization"]["key"] == {"$secret": "moved-key"}


def test_the_form_offers_a_text_or_a_secret_and_keeps_what_is_hidden(site: Site, admin_page: Page):
    page = admin_page
    make_secret(site, "offered")
    document = manifest({**tracking(), "name": "kinds"})
    page.goto(put(site, "kinds", document))
    page.get_by_role("tab", name="Form").click()
    wait_for_check(page, "warning")
    kind = page.get_by_label("Kind: tool_sets.0.authorization.key", exact=False)
    shoot(page, "form")
    assert typed(page)["tool_sets"][0]["authorization"]["key"].keys() == {"$hidden"}

    kind.select_option(label="Secret reference")
    page.get_by_label("Name").last.select_option("offered")
    shoot(page, "form-secret")
    page.get_by_role("tab", name="Text").click()

    assert typed(page)["tool_sets"][0]["authorization"]["key"] == {"$secret": "offered"}


def test_shared_headers_are_in_the_form_and_become_secrets(site: Site, admin_page: Page):
    page = admin_page
    make_secret(site, "offered")
    toolset = {
        **tracking(),
        "name": "based",
        "base_url": "https://track.example.org/v2",
        "headers": {"X-Tenant": "acme", "X-Track-Key": MARK},
    }
    del toolset["authorization"]
    page.goto(put(site, "based", manifest(toolset)))
    page.get_by_role("tab", name="Form").click()
    wait_for_check(page, "warning")
    address = page.get_by_role("textbox", name="Base URL")
    expect(address).to_have_value("https://track.example.org/v2")
    shoot(page, "form-headers")
    headers = typed(page)["tool_sets"][0]["headers"]
    assert (headers["X-Tenant"], headers["X-Track-Key"].keys()) == ("acme", {"$hidden"})
    assert MARK not in page.content()

    address.fill("https://track.example.org/v3")
    address.blur()
    page.get_by_label("Kind: tool_sets.0.headers.X-Tenant", exact=False).select_option(
        label="Secret reference"
    )
    page.get_by_label("Name").last.select_option("offered")
    page.get_by_role("tab", name="Text").click()
    assert typed(page)["tool_sets"][0]["headers"]["X-Tenant"] == {"$secret": "offered"}
    save(page)
    saved = stored(site, "based")["tool_sets"][0]
    assert saved["base_url"] == "https://track.example.org/v3"
    assert saved["headers"] == {
        "X-Tenant": {"$secret": "offered"},
        "X-Track-Key": {"$secret": "based-x-track-key"},
    }
    servers = site.shell("result = Secret.objects.get(name='based-x-track-key').servers")
    assert servers == ["https://track.example.org"]


@pytest.mark.slow("axe reads pages in a browser, one after the other")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_pages_keep_nobody_out(site: Site, admin_page: Page, scheme: Any, width: int):
    page = admin_page
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=cast(Any, scheme))
    form = make_secret(site, "shown")
    named = put(
        site, "naming", manifest({**tracking({"$secret": "shown"}), "name": "naming"}, tracking())
    )
    for address in (LIST, form, f"{LIST}add/", named, f"{form.removesuffix('change/')}delete/"):
        page.goto(address)
        if address == named:
            wait_for_check(page, "warning")
        shoot(page, f"{scheme}-{width}-{address.strip('/').replace('/', '-')}")
        assert barriers(page) == []
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(overflow) <= 0


def test_a_credential_of_a_predefined_item_is_made_a_secret_by_keyboard(
    site: Site, admin_page: Page
):
    page = admin_page
    page.goto("/admin/catalog/contentitem/add/?kind=toolset")
    page.get_by_label("Name").fill("parcels")
    text = page.locator("textarea[name=text]")
    text.fill(json.dumps({**tracking(), "name": "parcels"}))
    page.get_by_role("button", name="Check and preview without saving").click()
    expect(page.get_by_text("Saving turns it into a secret").first).to_be_visible()
    shoot(page, "plain-in-item")
    assert barriers(page) == []
    page.get_by_label("Name").press("Enter")

    expect(page.get_by_role("heading", name="toolset parcels")).to_be_visible()
    expect(page.get_by_text("stored as the secret 'parcels-key'")).to_be_visible()
    assert MARK not in page.content()
    saved = site.shell("result = ContentItem.objects.get(name='parcels').text")
    assert json.loads(saved)["authorization"]["key"] == {"$secret": "parcels-key"}
