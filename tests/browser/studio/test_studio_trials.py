"""Operators try tools in the studio and manage MCP servers, in a real browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import barriers
from tests.sites.serving import Site

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


@pytest.fixture(scope="module")
def studio(site: Site) -> str:
    """Return the address of the tools of an application in the studio."""
    number = site.shell(
        """
        from tests.catalog.rows import store_application
        for name, count in (("browser-many", "60"), ("browser-none", "0")):
            McpServer.objects.get_or_create(
                name=name, defaults={"command": python, "arguments": [server, count]}
            )
        row = store_application(slug="tried", title="Tried", manifest=manifest, is_enabled=True)
        result = row.pk
        """,
        python=sys.executable,
        server=SERVER,
        manifest=APPLICATION,
    )
    return f"/admin/catalog/application/{number}/studio/#tools"


def open_trial(page: Page, name: str) -> Locator:
    """Open the dialog with the keyboard, and wait for its first tool or message."""
    page.get_by_role("button", name=f"Try {name}", exact=True).press("Enter")
    dialog = page.get_by_role("dialog", name=f"Try {name}")
    expect(dialog.get_by_text("as a run opens")).to_be_visible()
    return dialog


def call(dialog: Locator) -> None:
    dialog.get_by_role("button", name="Call").press("Enter")
    expect(dialog.locator("[data-result]")).to_be_focused()


@pytest.mark.walkthrough
@pytest.mark.slow("uses several pages in a browser")
def test_a_tool_of_the_live_version_is_found_and_called_by_keyboard(admin_page: Page, studio: str):
    page = admin_page
    page.goto(studio)
    dialog = open_trial(page, "all tools")
    dialog.get_by_label("Version").select_option("live")
    expect(dialog.get_by_role("heading", name="Tools (62)")).to_be_visible()

    dialog.get_by_role("searchbox", name="Find a tool").fill("weather")
    expect(dialog.get_by_role("status")).to_have_text("1 found")
    page.keyboard.press("Tab")
    expect(dialog.get_by_role("button", name="Try Weather_now")).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog.get_by_label("city")).to_be_focused()
    page.keyboard.type("Oslo")
    for _ in range(9):
        page.keyboard.press("Tab")
        if dialog.get_by_role("button", name="Call").evaluate("b => b === document.activeElement"):
            break
    page.keyboard.press("Enter")

    outcome = dialog.get_by_role("region", name="Succeeded")
    expect(outcome).to_be_focused()
    expect(outcome.get_by_label("Result for the model")).to_contain_text("Oslo")
    stage = outcome.get_by_role("region", name="Stage Weather in Oslo")
    expect(stage.locator("markdown-text")).to_contain_text("Oslo")


@pytest.mark.slow("uses several pages in a browser")
def test_a_server_is_connected_its_tools_listed_and_reset(
    site: Site, admin_page: Page, studio: str
):
    page = admin_page
    page.goto("/admin/workspace/mcpserver/")
    page.get_by_role("link", name="browser-many").click()
    page.get_by_role("button", name="Connect as me and list the tools").click()
    expect(page.get_by_text("browser-many is connected and offers 61 tools.")).to_be_visible()

    page.get_by_role("link", name="MCP servers").first.click()
    page.get_by_role("link", name="MCP sessions").click()
    row = page.get_by_role("row").filter(has_text="browser-many")
    expect(row).to_contain_text("Tried: many")
    row.get_by_role("button", name="Reconnect").click()

    expect(page.get_by_text("browser-many was reconnected and offers 61 tools.")).to_be_visible()


@pytest.mark.slow("axe reads pages in a browser, one after the other")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 320)])
def test_trials_and_servers_keep_nobody_out(admin_page: Page, studio: str, scheme: Any, width: int):
    page = admin_page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    for path in ("", "add/", "sessions/"):
        page.goto(f"/admin/workspace/mcpserver/{path}")
        assert (path, faults(page)) == (path, [])

    page.goto(studio)
    for name in ("none", "dead", "all tools"):
        dialog = open_trial(page, name)
        dialog.locator("[data-tool] summary").first.click()
        assert (name, faults(page)) == (name, [])
        page.keyboard.press("Escape")

    dialog = open_trial(page, "many")
    dialog.get_by_role("button", name="Try many_tool_7", exact=True).press("Enter")
    dialog.get_by_text("Parameters and schema").click()
    call(dialog)  # without what is required
    assert faults(page) == []
    dialog.get_by_label("query").fill("x")
    call(dialog)
    expect(dialog.locator("markdown-text").first).to_be_visible()
    expect(dialog.locator("[data-outcome] script")).to_have_count(0)
    assert faults(page) == []


def faults(page: Page) -> list[str]:
    width = "document.documentElement.scrollWidth <= innerWidth"
    dialog = "[...document.querySelectorAll('dialog[open]')].every((d) => d.scrollWidth <= d.clientWidth)"
    return [*barriers(page), *(one for one in (width, dialog) if not page.evaluate(one))]
