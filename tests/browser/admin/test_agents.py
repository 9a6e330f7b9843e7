"""An agent on another server, added in the studio and asked there: applications of the site itself."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.studio.sources import source
from tests.sites.serving import Site

MANIFEST = {"orchestrator": {"deployment": {"deployment_id": "demo-model"}}}


@pytest.mark.slow("a walk through several pages in a browser")
@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("A2A agent", {"Agent URL": "/a2a/atlas"}),
        ("Responses agent", {"API URL": "/v1", "Model or agent": "atlas"}),
    ],
)
def test_an_agent_is_added_in_the_studio_and_answers_there(
    admin_page: Page, site: Site, kind: str, fields: dict[str, str]
):
    page = admin_page
    number, key = site.shell(
        """
        from apps.accounts.models import ApiKey
        from tests.catalog.rows import store_application
        if not Application.objects.filter(slug="atlas").exists():
            store_application(slug="atlas", title="Atlas", manifest=manifest, is_enabled=True)
        row = store_application(slug=slug, title=slug, manifest=manifest, is_enabled=True)
        result = row.pk, ApiKey.objects.create_key(name=slug)[1]
        """,
        slug=kind.lower().replace(" ", "-"),
        manifest={**MANIFEST, "contexts": [], "tool_sets": []},
    )
    page.goto(f"{site.url}/admin/catalog/application/{number}/studio/#tools")

    source(page, kind)
    page.get_by_role("group", name=kind).get_by_label("Name").fill("geographer")
    page.get_by_role("button", name="Add", exact=True).click()
    for label, value in fields.items():
        field = page.get_by_label(label)
        field.fill(f"{site.url}{value}" if value.startswith("/") else value)
    page.get_by_label("Authentication").select_option("bearer")
    page.get_by_label("Credential", exact=True).fill(key)
    page.keyboard.press("Control+s")
    expect(page.locator(".studio-bar .studio-status")).to_contain_text("is stored as the secret")
    page.get_by_placeholder("Message the draft").fill("Ask the geographer about rivers")
    page.get_by_role("button", name="Ask", exact=True).click()

    answer = page.get_by_role("article", name="Answer of the draft")
    expect(answer.get_by_role("blockquote")).to_contain_text("I am the built-in demo model")
