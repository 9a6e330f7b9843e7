"""An operator's path from a key to an answer, in a real browser and against a real service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.peers.upstream import Upstream, serve_upstream
from tests.sites.serving import Site

SECRET = "sk-of-the-operator-0123456789"


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with serve_upstream() as served:
        yield served


def add_deployment(page: Page, url: str) -> None:
    page.goto("/admin/workspace/deployment/add/")
    page.get_by_text("More options").click()
    page.get_by_label("Deployment ID").fill("loopback-model")
    page.get_by_label("Display name").fill("Loopback model")
    page.get_by_label("Base URL").fill(url)
    page.get_by_label("Model name").fill("echo-1")
    page.locator("[name=new_api_key]").fill(SECRET)
    page.get_by_role("button", name="Test connection").click()
    status = page.locator("[data-test-connection] [role=status]")
    expect(status).to_contain_text("✓")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/admin/workspace/deployment/")


def add_application(page: Page) -> None:
    page.goto("/admin/catalog/application/new/")
    page.get_by_label("Title").fill("Operators echo")
    page.get_by_role("button", name="Create and open the studio").click()
    menu = page.get_by_role("navigation", name="Sections of the application")
    menu.get_by_role("link", name="Model").click()
    page.get_by_role("radio", name="Loopback model").check()
    page.get_by_role("button", name="Publish…").click()
    page.get_by_label("Release note").fill("The first one")
    page.keyboard.press("Enter")
    expect(page.locator(".studio-bar .studio-status")).to_have_text("Published as version 1.")


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_model_is_connected_an_application_made_and_talked_to(
    site: Site, admin_page: Page, upstream: Upstream
):
    page = admin_page
    add_deployment(page, upstream.url)
    add_application(page)

    page.goto(page.get_by_role("link", name="Open in chat").get_attribute("href") or "")
    question = page.get_by_label("Your question")
    question.fill("all of this comes back")
    question.press("Enter")

    answer = page.locator("chat-answer").last
    expect(answer.locator(".answer-foot")).to_be_visible()
    expect(answer.locator("markdown-text").last).to_have_text("all of this comes back")
    asked = upstream.asked[-1]
    questions = [message for message in asked["messages"] if message["role"] == "user"]
    assert (asked["model"], questions) == (
        "echo-1",
        [{"role": "user", "content": "all of this comes back"}],
    )


def test_a_stored_key_is_never_seen_again(site: Site, admin_page: Page, upstream: Upstream):
    page = admin_page
    number = site.shell(
        """
        row = Deployment.objects.create(
            deployment_id="with-key", display_name="With key", base_url=url, api_key=secret
        )
        result = row.pk
        """,
        url=upstream.url,
        secret=SECRET,
    )

    page.goto(f"/admin/workspace/deployment/{number}/change/")

    expect(page.locator("body")).to_contain_text("key is stored")
    assert SECRET not in page.content()
    assert SECRET not in site.log.read_text()
    database = site.log.parent / "db.sqlite3"
    assert SECRET.encode() not in database.read_bytes()
