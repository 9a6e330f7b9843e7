"""A user gives feedback below an answer, and an operator reads what the user allowed."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.chat.test_demo import ask, wait_for_answer
from tests.browser.conftest import barriers, sign_in_as_admin, watch
from tests.sites.serving import Site

THANKS = "Thank you for your feedback."


@pytest.fixture(scope="module", autouse=True)
def content(site: Site) -> None:
    site.manage("import_content")


@pytest.mark.slow("a walk through several pages in a browser")
@pytest.mark.walkthrough
def test_an_answer_is_rated_by_keyboard_and_an_operator_reads_what_was_sent_along(
    site: Site, page: Page, context: BrowserContext
) -> None:
    page.goto("/chat/demo/")
    ask(page, "Hello there.")
    wait_for_answer(page)
    feedback = page.locator("chat-feedback")
    bad = feedback.get_by_role("button", name="Bad answer")
    form = feedback.get_by_role("form", name="Your feedback")

    bad.press("Enter")
    expect(feedback.get_by_role("status")).to_have_text(THANKS)
    expect(bad).to_have_attribute("aria-pressed", "true")
    form.get_by_label("Incorrect").press("Space")
    form.get_by_text("Add a comment").press("Enter")
    form.get_by_label("Comment").fill("It was Tuesday.")
    form.get_by_label("Include this question and answer").press("Space")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert barriers(page) == []
    form.get_by_role("button", name="Send").press("Enter")
    expect(form).to_have_count(0)
    expect(bad).to_be_focused()

    page.reload()
    expect(bad).to_have_attribute("aria-pressed", "true")
    bad.press("Enter")
    expect(form.get_by_label("Comment")).to_have_value("It was Tuesday.")
    expect(form.get_by_label("Incorrect")).to_be_checked()
    expect(form.get_by_label("Include this question and answer")).to_be_checked()
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    form.get_by_label("Comment").press("Escape")
    expect(bad).to_be_focused()

    inbox = context.new_page()
    problems = watch(inbox)
    sign_in_as_admin(inbox, site)
    inbox.goto("/admin/feedback/feedback/?state__exact=new&rating__exact=down")
    expect(inbox.get_by_text("It was Tuesday.")).to_be_visible()
    assert barriers(inbox) == []
    inbox.locator("#result_list tbody a").first.click()
    inbox.wait_for_url("**/change/**")
    assert barriers(inbox) == []
    inbox.get_by_role("link", name="Read the question and the answer").click()
    expect(inbox.locator("pre").first).to_have_text("Hello there.")
    assert barriers(inbox) == []
    assert problems == []
    context.clear_cookies(name="sessionid")
