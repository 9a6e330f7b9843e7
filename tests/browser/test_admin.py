"""What an operator does in the admin, in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

import pytest
from playwright._impl._api_structures import SetCookieParam
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import barriers
from tests.browser.serving import Site

pytestmark = pytest.mark.usefixtures("demo_model")

LIST = "/admin/catalog/application/"

ODD = {
    "orchestrator": {"deployment": {"deployment_id": "demo-model"}, "odd": {"kept": True}},
    "contexts": [{"type": "user-defined", "content": "first", "note": 1}],
    "tool_sets": [
        {"type": "from-the-future", "name": "new", "stuff": [1, 2]},
        {"type": "mcp", "name": "files", "extra": 1, "mcp_server_info": {"protocol": "sse"}},
    ],
    "unknown_at_the_root": {"a": [1]},
    "features": None,
}


def stored(site: Site, slug: str) -> Any:
    return site.shell("result = Application.objects.get(slug=slug).manifest", slug=slug)


def put(site: Site, slug: str, manifest: object) -> str:
    """Store an application past all checks; gives the address of its form."""
    number = site.shell(
        """
        row, _ = Application.objects.get_or_create(slug=slug, defaults={"title": slug})
        Application.objects.filter(pk=row.pk).update(manifest=manifest)
        result = row.pk
        """,
        slug=slug,
        manifest=manifest,
    )
    return f"{LIST}{number}/change/"


def typed(page: Page) -> Any:
    return json.loads(page.locator("textarea[name=manifest]").input_value())


def wait_for_check(page: Page, text: str) -> None:
    expect(page.locator("[data-status]")).to_contain_text(text)


@pytest.mark.slow("a walk through several pages in a browser")
@pytest.mark.walkthrough
def test_an_application_is_made_broken_mended_and_saved_by_keyboard(site: Site, admin_page: Page):
    page = admin_page
    page.goto(f"{LIST}add/")
    wait_for_check(page, "No mistakes found.")
    keyboard = page.keyboard

    page.get_by_label("Title").focus()
    keyboard.type("Travel helper")
    expect(page.get_by_label("Slug")).to_have_value("travel-helper")

    tabs = page.get_by_role("tablist", name="Edit the manifest as")
    tabs.get_by_role("tab", name="Form").focus()
    keyboard.press("ArrowRight")
    code = page.get_by_role("textbox", name="Manifest as JSON")
    expect(code).to_be_visible()
    code.focus()
    keyboard.press("Control+A")
    keyboard.insert_text('{"orchestrator": {"max_iterations": "many",\n "deployment": 3}')
    wait_for_check(page, "1 mistake")

    page.get_by_role("button", name="Save", exact=True).focus()
    keyboard.press("Enter")
    page.wait_for_load_state()
    finding = page.get_by_role("link", name="line 2")
    expect(finding).to_be_visible()
    expect(page.get_by_label("Title")).to_have_value("Travel helper")
    text = page.locator("textarea[name=manifest]").input_value()
    assert text == '{"orchestrator": {"max_iterations": "many",\n "deployment": 3}'
    finding.focus()
    keyboard.press("Enter")
    expect(code).to_be_focused()

    keyboard.press("Control+A")
    manifest: dict[str, Any] = {
        "orchestrator": {"deployment": {"deployment_id": "demo-model"}, "max_iterations": "many"},
        "contexts": [],
        "tool_sets": [],
    }
    keyboard.insert_text(json.dumps(manifest))
    wait_for_check(page, "1 mistake")
    tabs.get_by_role("tab", name="Text").focus()
    keyboard.press("ArrowLeft")
    field = page.get_by_role("textbox", name="Max iterations")
    expect(field).to_have_attribute("aria-invalid", "true")
    found = re.compile(r'^\S.* expected an integer, found the string "many"$')  # after its help
    expect(field).to_have_accessible_description(found)
    link = page.get_by_role("link", name="orchestrator.max_iterations")
    link.focus()
    keyboard.press("Enter")
    expect(field).to_be_focused()
    keyboard.press("Control+A")
    keyboard.type("7")
    keyboard.press("Tab")
    wait_for_check(page, "No mistakes found.")

    page.get_by_role("button", name="Save", exact=True).focus()
    keyboard.press("Enter")
    page.wait_for_url(f"**{LIST}")
    manifest["orchestrator"]["max_iterations"] = 7
    assert stored(site, "travel-helper") == manifest


def test_what_the_form_does_not_know_survives_it(site: Site, admin_page: Page):
    page = admin_page
    page.goto(put(site, "odd", ODD))
    wait_for_check(page, "mistakes")
    expect(page.locator("[data-notice]")).to_contain_text("does not show: orchestrator.odd")

    page.get_by_role("tab", name="Text").click()
    page.get_by_role("tab", name="Form").click()
    expect(page.locator("[data-form]")).to_be_visible()
    assert typed(page) == ODD

    page.locator('[data-schemapath$="mcp_server_info.url"] input').fill("https://x.example/")
    page.keyboard.press("Tab")
    expected = json.loads(json.dumps(ODD))
    expected["tool_sets"][1]["mcp_server_info"]["url"] = "https://x.example/"
    expect(page.locator("[data-findings]")).not_to_contain_text("is missing")
    assert typed(page) == expected

    page.get_by_role("button", name="Delete item: tool_sets.0").click()
    page.wait_for_function(
        "JSON.parse(document.querySelector('textarea[name=manifest]').value).tool_sets.length == 1"
    )
    del expected["tool_sets"][0]
    assert typed(page) == expected

    wait_for_check(page, "warnings")
    page.get_by_role("button", name="Save and continue editing").click()
    page.wait_for_load_state()
    assert stored(site, "odd") == expected


def test_text_that_is_no_json_stays_text(site: Site, admin_page: Page):
    page = admin_page
    page.goto(put(site, "text", ODD))
    wait_for_check(page, "mistakes")
    page.get_by_role("tab", name="Text").click()
    page.get_by_role("textbox", name="Manifest as JSON").focus()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text('{\n "a": tru }')

    page.get_by_role("tab", name="Form").click()

    expect(page.locator("[data-notice]")).to_contain_text("is not valid JSON")
    expect(page.get_by_role("tab", name="Text")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("link", name="line 2")).to_be_visible()
    assert page.locator("textarea[name=manifest]").input_value() == '{\n "a": tru }'


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_large_manifest_can_be_edited(site: Site, admin_page: Page):
    page = admin_page
    contexts = [{"type": "user-defined", "content": f"{n} " + "x" * 900} for n in range(220)]
    large = {**ODD, "tool_sets": [], "contexts": contexts}
    page.goto(put(site, "large", large))
    wait_for_check(page, "2 warnings")
    expect(page.get_by_role("tab", name="Text")).to_have_attribute("aria-selected", "true")

    page.get_by_role("tab", name="Form").click()
    first = page.locator('[data-schemapath$="contexts.0.content"] textarea')
    first.fill("short", timeout=30_000)
    page.keyboard.press("Tab")
    page.wait_for_function(
        "JSON.parse(document.querySelector('textarea[name=manifest]').value)"
        ".contexts[0].content == 'short'"
    )
    page.get_by_role("button", name="Save and continue editing").click()
    page.wait_for_load_state()

    contexts[0]["content"] = "short"
    assert stored(site, "large") == large


def test_a_clone_is_a_form_with_everything_in_it(site: Site, admin_page: Page):
    page = admin_page
    page.goto(put(site, "original", {**ODD, "tool_sets": []}))

    page.get_by_role("link", name="Clone").click()
    wait_for_check(page, "warnings")

    expect(page.get_by_label("Slug")).to_have_value("original-copy")
    assert typed(page) == {**ODD, "tool_sets": []}


def test_a_connection_is_tested_without_saving(admin_page: Page):
    page = admin_page
    page.goto("/admin/workspace/deployment/add/")
    page.get_by_label("Deployment ID").fill("another")
    page.get_by_label("Display name").fill("Another")
    page.get_by_label("Base URL").fill("http://127.0.0.1:9/v1")

    page.get_by_role("button", name="Test connection").click()

    status = page.locator("[data-test-connection] [role=status]")
    expect(status).to_have_text("✗ Nothing listens at this host and port.")


def test_a_test_shows_what_is_known_of_a_model_and_fills_in_what_its_service_says(admin_page: Page):
    page = admin_page
    page.goto("/admin/workspace/deployment/add/")
    known = {"vision": "As known: no", "context_window": "As known: 16,385"}
    told = {"tools": True, "caching": False, "max_output_tokens": 500}
    answer = {"ok": True, "message": "The model answers.", "known": known, "told": told}
    page.route("**/deployment/test/", lambda route: route.fulfill(json=answer))
    page.get_by_label("Caches prompts").select_option("Yes")

    page.get_by_role("button", name="Test connection").click()

    status = page.locator("[data-test-connection] [role=status]")
    expect(status).to_have_text(
        "✓ The model answers. What the service says of the model is filled in above."
    )
    expect(page.locator("[name=vision] option").first).to_have_text("As known: no")
    expect(page.locator("[data-known=context_window]")).to_have_text("As known: 16,385")
    expect(page.get_by_label("Calls tools")).to_have_value("true")
    expect(page.get_by_label("Caches prompts")).to_have_value("true")
    expect(page.get_by_label("Longest answer")).to_have_value("500")


@pytest.fixture
def plain(browser: Browser, site: Site) -> Iterator[BrowserContext]:
    """A browser without JavaScript."""
    made = browser.new_context(base_url=site.url, java_script_enabled=False)
    yield made
    made.close()


def test_the_form_works_without_scripts(site: Site, admin_page: Page, plain: BrowserContext):
    plain.add_cookies(cast(list[SetCookieParam], admin_page.context.cookies()))
    page = plain.new_page()
    page.goto(put(site, "plain", {**ODD, "tool_sets": []}))
    area = page.locator("textarea[name=manifest]")

    area.fill('{"orchestrator": ')
    page.get_by_role("button", name="Save", exact=True).click()
    assert page.get_by_role("link", name="line 1").count() == 1
    assert area.input_value() == '{"orchestrator": '

    area.fill(json.dumps({**ODD, "tool_sets": []}))
    page.get_by_role("button", name="Save and continue editing").click()
    assert stored(site, "plain") == {**ODD, "tool_sets": []}


@pytest.mark.slow("axe reads pages in a browser, one after the other")
@pytest.mark.walkthrough
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_pages_keep_nobody_out(site: Site, admin_page: Page, scheme: Any, width: int):
    page = admin_page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    for path in (
        "/admin/",
        LIST,
        "/admin/workspace/deployment/add/",
        "/admin/accounts/apikey/add/",
        "/admin/triggers/webhook/add/",
        "/admin/triggers/subscription/add/",
        "/admin/triggers/delivery/",
    ):
        page.goto(path)
        assert (path, barriers(page)) == (path, [])

    page.goto(put(site, "seen", ODD))
    wait_for_check(page, "mistakes")
    for mode in ("Form", "Text"):
        page.get_by_role("tab", name=mode).click()
        expect(page.get_by_role("tab", name=mode)).to_have_attribute("aria-selected", "true")
        page.wait_for_load_state("networkidle")
        assert (mode, barriers(page)) == (mode, [])


@pytest.mark.slow("axe reads pages in a browser, one after the other")
def test_the_page_that_signs_in_keeps_nobody_out(page: Page):
    page.goto("/admin/login/?next=/admin/")

    assert barriers(page) == []
    for _ in range(6):
        page.get_by_label("Username").fill("somebody-who-guesses")
        page.get_by_label("Password").fill("wrong")
        with page.expect_navigation():
            page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text(
        "Too many wrong tries. Wait 5 minutes, then try again."
    )
    expect(page.get_by_label("Username")).to_be_focused()
    assert barriers(page) == []


def test_the_last_edit_is_part_of_what_enter_submits(site: Site, admin_page: Page):
    page = admin_page
    page.goto(put(site, "entered", {**ODD, "tool_sets": []}))
    wait_for_check(page, "warnings")
    page.get_by_role("tab", name="Form").click()

    page.get_by_role("textbox", name="Deployment id").fill("other-model")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{LIST}")

    assert stored(site, "entered")["orchestrator"]["deployment"]["deployment_id"] == "other-model"


def test_an_open_list_of_further_fields_is_in_nobodys_way(site: Site, admin_page: Page):
    page = admin_page
    page.goto(put(site, "further", {**ODD, "tool_sets": []}))
    page.get_by_role("tab", name="Form").click()
    more = page.get_by_role("button", name="More fields", exact=True)
    further = page.get_by_label("Conversation starters")

    more.click()
    expect(further).to_be_visible()
    page.keyboard.press("Escape")
    expect(further).to_be_hidden()
    expect(more).to_be_focused()

    more.click()
    expect(further).to_be_visible()
    page.get_by_role("textbox", name="Title").first.fill("Saved at the first click")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url(f"**{LIST}")
    expect(page.get_by_role("link", name="Saved at the first click").first).to_be_visible()


def test_the_choice_of_a_kind_is_named_by_its_place(site: Site, admin_page: Page):
    page = admin_page
    page.goto(put(site, "kinds", {**ODD, "tool_sets": []}))
    page.get_by_role("tab", name="Form").click()

    kind = page.get_by_role("combobox", name="Kind: orchestrator.system_prompt", exact=True)
    expect(kind).to_have_count(1)


def test_each_field_tells_what_it_does(site: Site, admin_page: Page):
    page = admin_page
    orchestrator = {**ODD["orchestrator"], "max_iterations": 3}  # type: ignore[dict-item]
    page.goto(put(site, "told", {**ODD, "orchestrator": orchestrator, "tool_sets": []}))
    page.get_by_role("tab", name="Form").click()

    field = page.locator('[data-schemapath="manifest_form.orchestrator.max_iterations"]')
    expect(field).to_contain_text("How often the model may be asked for one answer")
