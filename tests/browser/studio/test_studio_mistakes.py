"""The studio shows ten errors of an application at their fields."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.conftest import barriers, pick
from tests.browser.studio.sources import source
from tests.sites.serving import Site, free_port

pytestmark = pytest.mark.usefixtures("demo_model")

PHONE: ViewportSize = {"width": 360, "height": 740}
ROWS = """
def told(name, kind):
    asked = {"type": kind, "description": "What.", "parameter_info": {"type": "query", "key": "q"}}
    parameters = {"type": "object", "properties": {"q": asked}}
    function = {"name": name, "description": "Finds.", "parameters": parameters}
    return {
        "type": "restapi-tool",
        "open_ai_tool": {"type": "function", "function": function},
        "rest_api_method_info": {"method_url": "/items", "method_type": "get"},
    }

def written(deployment, *toolsets):
    prompt = {"type": "custom", "content": "", "variables": {}}
    return {
        "orchestrator": {"deployment": {"deployment_id": deployment}, "system_prompt": prompt},
        "contexts": [],
        "tool_sets": list(toolsets),
    }

small, _ = Deployment.objects.get_or_create(
    deployment_id="small-model",
    defaults={"display_name": "Small", "provider": "demo", "context_window": 1000},
)
shop = {
    "type": "rest-api", "name": "shop", "base_url": "https://shop.example.com",
    "authorization": {"type": "bearer", "token": {"$secret": "shop-token"}},
    "tools": [told("find", "string"), told("list", "strin")],
}
back = {
    "type": "dial-deployment", "name": "assistants",
    "tools": [{"type": "dial-deployment-simple", "deployment_id": "breaks"}],
}
from apps.catalog.actions import save_draft
from tests.catalog.rows import store_application

breaks = store_application(slug="breaks", title="Breaks", is_enabled=True)
store_application(
    slug="asks-back", title="Asks back", is_enabled=True, manifest=written("small-model", back)
)
save_draft.execute(breaks, {"manifest": written("gpt-9", shop)}, None, None)
result = breaks.pk
"""


@pytest.fixture
def studio(admin_page: Page, site: Site) -> Iterator[Page]:
    number = site.shell(ROWS)
    admin_page.goto(f"{site.url}/admin/catalog/application/{number}/studio/#model")
    yield admin_page
    site.shell('Application.objects.filter(slug__in=("breaks", "asks-back")).delete()')
    site.shell('Deployment.objects.filter(deployment_id="small-model").delete()')


def section(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Sections of the application").get_by_role(
        "link", name=name
    ).click()


def note(page: Page, label: str, words: str) -> None:
    """Check that the words are part of the field's description for screen readers."""
    field = page.get_by_label(label, exact=True)
    expect(field).to_have_accessible_description(re.compile(re.escape(words)))


@pytest.mark.slow("a walk through several pages in a browser")
def test_ten_mistakes_are_each_told_at_their_place(studio: Page):
    page = studio
    expect(page.get_by_text("there is no deployment 'gpt-9' in this installation")).to_be_visible()
    page.get_by_role("radio", name="Small").check()
    page.get_by_label("Temperature").fill("9")
    note(page, "Temperature", "usual values: 0 to 2")

    section(page, "Instructions")
    page.get_by_label("Prompt", exact=True).fill("word " * 1000)
    note(page, "Prompt", "has about 1,250 tokens; the limit of small-model is 1,000")

    section(page, "Skills")
    page.get_by_role("button", name="Add a skill from DIAL").click()
    page.get_by_label("Path", exact=True).fill("tone")
    note(page, "Path", "there is no skill at this path; write prompts/<bucket>/<path>.")

    section(page, "Tools")
    shop = page.locator("[data-toolset='0']")
    shop.locator("summary").first.click()
    expect(shop.get_by_text("the secret 'shop-token' does not exist")).to_be_visible()
    page.get_by_label("Service URL").fill("shop.example.com")
    note(page, "Service URL", "did you mean 'https://shop.example.com'?")
    tool = page.locator("[data-tool='list']")
    expect(tool.get_by_text('found the string "strin"')).to_be_visible()
    # Names are compared once everything else can be parsed.
    tool.get_by_label("Type of q").select_option("string")
    tool.get_by_label("Name", exact=True).fill("find")
    expect(tool.get_by_text("the model would see a second tool named 'shop_find'")).to_be_visible()

    source(page, "Another application")
    pick(page, "Deployment", "Asks back")
    page.get_by_role("button", name="Add", exact=True).click()
    loop = page.locator("[data-tool='asks-back']")
    loop.get_by_text("(1 error)").click()
    expect(loop.get_by_text("breaks → asks-back → breaks")).to_be_visible()

    source(page, "MCP server")
    page.get_by_label("Server URL").last.fill(f"http://127.0.0.1:{free_port()}/mcp")
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_text("the server cannot be reached. Check the URL")).to_be_visible()

    page.locator(".studio-checked").click()
    expect(page.get_by_label("Issues in the draft").get_by_role("listitem")).to_have_count(6)
    publish = page.get_by_role("button", name="Publish…")
    expect(publish).to_be_disabled()
    expect(publish).to_have_accessible_description(re.compile("Fix . errors before you publish."))
    section(page, "Starters")
    page.get_by_role("button", name="Go to the first error").click()
    expect(page.locator("#studio-section")).not_to_have_text("Starters")
    section(page, "Starters")
    publish.focus()
    publish.press("Enter")
    expect(page.locator("#studio-section")).not_to_have_text("Starters")
    assert barriers(page) == []
    page.set_viewport_size(PHONE)
    page.evaluate("document.documentElement.classList.add('dark')")
    assert barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
