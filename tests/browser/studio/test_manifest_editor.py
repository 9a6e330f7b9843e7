"""The manifest editor, as a form and as text, on the page that DIAL's chat frames."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers
from tests.sites.serving import Site

pytestmark = pytest.mark.usefixtures("demo_model")

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
    """Store an application without checks. Return the address of its editor."""
    site.shell(
        """
        row, _ = Application.objects.get_or_create(slug=slug, defaults={"title": slug})
        Application.objects.filter(pk=row.pk).update(manifest=manifest)
        """,
        slug=slug,
        manifest=manifest,
    )
    return f"/dial/editor/?id={slug}"


def typed(page: Page) -> Any:
    return json.loads(page.locator("textarea[name=manifest]").input_value())


def wait_for_check(page: Page, text: str) -> None:
    expect(page.locator("[data-status]")).to_contain_text(text)


TOOL_SETS = "JSON.parse(document.querySelector('textarea[name=manifest]').value).tool_sets"


def wait_for_url(page: Page) -> None:
    """Wait for the URL, because the form reports an edit one frame later."""
    page.wait_for_function(f"{TOOL_SETS}.some((one) => one.mcp_server_info?.url)")


def save(page: Page) -> None:
    page.get_by_role("button", name="Save manifest").click()
    expect(page.locator("[data-saved]")).to_have_text("Saved.")


@pytest.mark.slow("a walk through several pages in a browser")
@pytest.mark.walkthrough
def test_a_manifest_is_broken_mended_and_saved_by_keyboard(site: Site, admin_page: Page):
    page = admin_page
    page.goto(put(site, "by-keyboard", {**ODD, "tool_sets": []}))
    wait_for_check(page, "warnings")
    keyboard = page.keyboard

    tabs = page.get_by_role("tablist", name="Edit the manifest as")
    tabs.get_by_role("tab", name="Form").focus()
    keyboard.press("ArrowRight")
    code = page.get_by_role("textbox", name="Manifest as JSON")
    expect(code).to_be_visible()
    code.focus()
    keyboard.press("Control+A")
    keyboard.insert_text('{"orchestrator": {"max_iterations": "many",\n "deployment": 3}')
    wait_for_check(page, "1 error")

    page.get_by_role("button", name="Save manifest").focus()
    keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Nothing was saved.")
    finding = page.get_by_role("link", name="line 2")
    expect(finding).to_be_visible()
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
    wait_for_check(page, "1 error")
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
    wait_for_check(page, "No issues.")

    page.get_by_role("button", name="Save manifest").focus()
    keyboard.press("Enter")
    expect(page.locator("[data-saved]")).to_have_text("Saved.")
    manifest["orchestrator"]["max_iterations"] = 7
    assert stored(site, "by-keyboard") == manifest


def test_what_the_form_does_not_know_survives_it(site: Site, admin_page: Page):
    page = admin_page
    page.goto(put(site, "odd", ODD))
    wait_for_check(page, "errors")
    expect(page.locator("[data-notice]")).to_contain_text("The form cannot show orchestrator.odd")

    page.get_by_role("tab", name="Text").click()
    page.get_by_role("tab", name="Form").click()
    expect(page.locator("[data-form]")).to_be_visible()
    assert typed(page) == ODD

    page.locator('[data-schemapath$="mcp_server_info.url"] input').fill("https://x.example/")
    page.keyboard.press("Tab")
    expected = json.loads(json.dumps(ODD))
    expected["tool_sets"][1]["mcp_server_info"]["url"] = "https://x.example/"
    wait_for_url(page)
    assert typed(page) == expected

    page.get_by_role("button", name="Delete item: tool_sets.0").click()
    page.wait_for_function(
        "JSON.parse(document.querySelector('textarea[name=manifest]').value).tool_sets.length == 1"
    )
    del expected["tool_sets"][0]
    assert typed(page) == expected

    wait_for_check(page, "warnings")
    save(page)
    assert stored(site, "odd") == expected


EDIT_AND_DELETE = """
    const field = document.querySelector('[data-schemapath$="mcp_server_info.url"] input');
    field.value = "https://x.example/";
    field.dispatchEvent(new Event("change", { bubbles: true }));
    document.querySelector('button[aria-label="Delete item: tool_sets.0"]').click();
"""


def test_an_edit_survives_the_deletion_of_an_item_in_the_same_frame(site: Site, admin_page: Page):
    """On a busy machine, the click arrives before the frame in which the edit is reported."""
    page = admin_page
    page.goto(put(site, "frame", ODD))
    wait_for_check(page, "errors")
    expect(page.locator("[data-form]")).to_be_visible()

    page.evaluate(EDIT_AND_DELETE)
    wait_for_url(page)

    expected = json.loads(json.dumps(ODD))
    del expected["tool_sets"][0]
    expected["tool_sets"][0]["mcp_server_info"]["url"] = "https://x.example/"
    page.wait_for_function(f"{TOOL_SETS}.length == 1")
    assert typed(page) == expected


def test_text_that_is_no_json_stays_text(site: Site, admin_page: Page):
    page = admin_page
    page.goto(put(site, "text", ODD))
    wait_for_check(page, "errors")
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
    first.fill("short", timeout=60_000)
    page.keyboard.press("Tab")
    page.wait_for_function(
        "JSON.parse(document.querySelector('textarea[name=manifest]').value)"
        ".contexts[0].content == 'short'"
    )
    save(page)

    contexts[0]["content"] = "short"
    assert stored(site, "large") == large


def test_the_last_edit_is_part_of_what_enter_submits(site: Site, admin_page: Page):
    page = admin_page
    page.goto(put(site, "entered", {**ODD, "tool_sets": []}))
    wait_for_check(page, "warnings")
    page.get_by_role("tab", name="Form").click()

    page.get_by_role("textbox", name="Deployment ID").fill("other-model")
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved]")).to_have_text("Saved.")

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

    page.get_by_role("textbox", name="Deployment ID").fill("other-model")
    more.click()
    expect(further).to_be_visible()
    save(page)
    assert stored(site, "further")["orchestrator"]["deployment"]["deployment_id"] == "other-model"


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
    expect(field).to_contain_text("The maximum number of model calls per answer")


@pytest.mark.slow("axe reads pages in a browser, one after the other")
@pytest.mark.walkthrough
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_the_editor_keeps_nobody_out(site: Site, admin_page: Page, scheme: Any, width: int):
    page = admin_page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{put(site, 'seen', ODD)}&theme={scheme}")
    wait_for_check(page, "errors")
    for mode in ("Form", "Text"):
        page.get_by_role("tab", name=mode).click()
        expect(page.get_by_role("tab", name=mode)).to_have_attribute("aria-selected", "true")
        page.wait_for_load_state("networkidle")
        assert (mode, barriers(page)) == (mode, [])
