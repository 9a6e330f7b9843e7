"""What an operator does to try tools, and an administrator with MCP servers, in a real browser."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from playwright._impl._api_structures import SetCookieParam
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import barriers
from tests.browser.serving import Site
from tests.console.workbench.test_leaving import slow_service
from tests.console.workbench.test_views import shop

SERVER = str(Path(__file__).parent / "many_tools.py")
APPLICATION: dict[str, Any] = {
    "orchestrator": {"deployment": {"deployment_id": "demo-model"}},
    "contexts": [],
    "tool_sets": [
        {"type": "predefined", "template_name": "weather"},
        {
            "type": "mcp",
            "name": "many",
            "mcp_server_info": {"protocol": "stdio", "server": "browser-many"},
        },
        {
            "type": "mcp",
            "name": "none",
            "mcp_server_info": {"protocol": "stdio", "server": "browser-none"},
        },
        {
            "type": "mcp",
            "name": "dead",
            "mcp_server_info": {"protocol": "sse", "url": "http://127.0.0.1:9/sse"},
        },
    ],
}


SLOW = 'result = Application.objects.create(slug="slow", title="Slow", manifest=manifest).pk'


@pytest.fixture(scope="module")
def tries(site: Site) -> str:
    """The address at which the toolsets of an application are tried."""
    number = site.shell(
        """
        for name, count in (("browser-many", "60"), ("browser-none", "0")):
            McpServer.objects.get_or_create(
                name=name, defaults={"command": python, "arguments": [server, count]}
            )
        result = Application.objects.create(slug="tried", title="Tried", manifest=manifest).pk
        """,
        python=sys.executable,
        server=SERVER,
        manifest=APPLICATION,
    )
    return f"/admin/catalog/application/{number}/try/"


def call(page: Page) -> None:
    page.get_by_role("button", name="Call").click()
    expect(page.locator("[data-result]")).to_be_focused()


@pytest.mark.walkthrough
def test_a_tool_is_tried_by_keyboard_from_the_page_of_its_application(admin_page: Page, tries: str):
    page = admin_page
    page.goto(tries.replace("try/", "change/"))
    for name in (re.compile("Try a toolset$"), "Weather", "Try Weather_now"):
        page.get_by_role("link", name=name, exact=isinstance(name, str)).focus()
        page.keyboard.press("Enter")
        page.wait_for_load_state()

    page.get_by_label("city").focus()
    page.keyboard.type("Oslo")
    for _ in range(9):
        page.keyboard.press("Tab")
        if page.get_by_role("button", name="Call").evaluate("b => b === document.activeElement"):
            break
    page.keyboard.press("Enter")

    outcome = page.get_by_role("region", name="It worked")
    expect(outcome).to_be_focused()
    expect(outcome.get_by_label("What the model gets")).to_contain_text("Oslo")
    stage = outcome.get_by_role("region", name="Stage Weather in Oslo")
    expect(stage.locator("markdown-text")).to_contain_text("Oslo")


def test_among_many_tools_one_is_found(admin_page: Page, tries: str):
    page = admin_page
    page.goto(f"{tries}1/")
    expect(page.get_by_role("heading", name="Tools (61)")).to_be_visible()

    page.get_by_role("searchbox", name="Find among 61 tools").fill("number 17")

    expect(page.get_by_role("status")).to_have_text("1 found")
    expect(page.get_by_role("link", name="Try many_tool_17")).to_be_visible()
    expect(page.get_by_role("link", name="Try many_tool_18")).to_be_hidden()


def test_a_form_is_corrected_and_taken_over_as_json(admin_page: Page, tries: str):
    page = admin_page
    page.goto(f"{tries}1/many_tool_7/")
    page.get_by_label("query").fill("two\nlines")
    tags = page.get_by_role("textbox", name="tags")
    tags.fill("[1,")

    call(page)
    expect(tags).to_have_attribute("aria-invalid", "true")
    expect(tags).to_have_accessible_description(
        "This is not JSON: Expecting value, line 1, column 4."
    )

    tags.fill('["<b>x</b>"]')
    page.get_by_label("Raw JSON").check()
    raw = page.get_by_label("Arguments, as a model would write them")
    assert json.loads(raw.input_value()) == {
        "query": "two\nlines",
        "limit": 10,
        "kind": "a",
        "tags": ["<b>x</b>"],
    }

    call(page)
    expect(page.get_by_label("What the model gets")).to_contain_text("['<b>x</b>'] <script>")
    expect(page.locator("[data-outcome] script")).to_have_count(0)
    expect(raw).not_to_have_attribute("aria-invalid", "true")


def test_nobody_has_to_wait_for_a_slow_tool(admin_page: Page, site: Site, tries: str):
    page = admin_page
    with slow_service() as (url, told):
        number = site.shell(SLOW, manifest={**APPLICATION, "tool_sets": [shop(url)]})
        page.goto(f"/admin/catalog/application/{number}/try/0/shop_look_up/")
        page.get_by_label("item").fill("tea")
        page.get_by_role("button", name="Call").click()
        assert told.get(timeout=60) == "GET"

        page.get_by_role("button", name="Stop").click()

        assert told.get(timeout=30) == "gone"
        expect(page.get_by_role("status")).to_have_text(
            "Stopped. What the tool had done until then stays done."
        )
        expect(page.get_by_role("button", name="Call")).to_be_enabled()


def test_tools_are_tried_without_scripts(
    admin_page: Page, browser: Browser, site: Site, tries: str
):
    plain = browser.new_context(base_url=site.url, java_script_enabled=False)
    plain.add_cookies(cast(list[SetCookieParam], admin_page.context.cookies()))
    page = plain.new_page()
    page.goto(f"{tries}0/Weather_now/")

    page.get_by_label("city").fill("Oslo")
    page.get_by_role("button", name="Call").click()

    assert "Oslo" in page.get_by_label("What the model gets").inner_text()
    assert page.get_by_label("city").input_value() == "Oslo"
    plain.close()


def test_a_server_is_connected_its_tools_listed_and_reset(site: Site, admin_page: Page, tries: str):
    page = admin_page
    page.goto("/admin/workspace/mcpserver/")
    page.get_by_role("link", name="browser-many").click()
    page.get_by_role("button", name="Connect as me and list the tools").click()
    expect(page.get_by_text("browser-many is connected and offers 61 tools.")).to_be_visible()

    page.get_by_role("link", name="MCP sessions").click()
    row = page.get_by_role("row").filter(has_text="browser-many")
    expect(row).to_contain_text("Tried: many")
    row.get_by_role("button", name="Reconnect").click()

    expect(page.get_by_text("browser-many is connected again and offers 61 tools.")).to_be_visible()


@pytest.mark.slow("axe reads pages in a browser, one after the other")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_the_pages_keep_nobody_out(admin_page: Page, tries: str, scheme: Any, width: int):
    page = admin_page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    for path in (
        tries,
        f"{tries}1/",
        f"{tries}2/",
        f"{tries}3/",
        f"{tries}1/many_tool_7/",
        "/admin/workspace/mcpserver/",
        "/admin/workspace/mcpserver/add/",
        "/admin/workspace/mcpserver/sessions/",
    ):
        page.goto(path)
        assert (path, barriers(page)) == (path, [])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.goto(f"{tries}1/many_tool_7/")
    call(page)  # without what is required
    assert barriers(page) == []
    page.get_by_label("query").fill("x")
    call(page)
    expect(page.locator("markdown-text").first).to_be_visible()
    assert barriers(page) == []
