"""The chat page on the real server: the demo answers, and no text is lost or doubled."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.conftest import ADMIN, open_account, sign_out, watch
from tests.contract import proves
from tests.sites.serving import Site

TOOLS = "What is the weather in Oslo and Lima, and what time is it in Tokyo?"
STORY = "Tell me a long story."
PARAGRAPHS = "Write 8 paragraphs about rain."
CONVERSATION = re.compile(r"/chat/demo/[0-9a-f-]{36}/$")
ANSWERED_WITHIN = 60_000
DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.fixture(scope="module", autouse=True)
def content(site: Site) -> None:
    site.manage("import_content")


@pytest.fixture
def demo(page: Page) -> Page:
    page.goto("/")
    page.get_by_role("link", name="Demo", exact=True).click()
    expect(question(page)).to_be_visible()
    return page


def question(page: Page) -> Locator:
    return page.get_by_label("Your question")


def ask(page: Page, text: str) -> None:
    question(page).fill(text)
    question(page).press("Enter")
    expect(page).to_have_url(CONVERSATION)


def wait_for_answer(page: Page) -> str:
    """Return the text of the newest answer once it is complete."""
    answer = page.locator("chat-answer").last
    expect(answer.locator(".answer-foot")).to_be_visible(timeout=ANSWERED_WITHIN)
    page.evaluate(DRAWN)
    return answer.inner_text()


def wait_for_words(page: Page) -> None:
    expect(page.locator("chat-answer markdown-text").last).to_contain_text(re.compile(r"\w+ \w+"))


@proves("T-05")
@pytest.mark.walkthrough
def test_the_demo_calls_its_tools_and_tells_what_they_said(demo: Page) -> None:
    demo.get_by_role("button", name="Several tools at once").click()

    said = wait_for_answer(demo)

    demo.locator(".activity > summary", has_text="3 steps").click()
    titles = demo.locator(".steps .step-title").all_inner_texts()
    assert sorted(titles) == ["Current time", "Weather in Lima", "Weather in Oslo"]
    assert demo.locator(".steps .step[data-state=done]").count() == 3
    assert "light rain" in said
    assert "Asia/Tokyo" in said
    demo.locator("summary", has_text="Weather in Oslo").click()
    expect(demo.locator(".step-content")).to_contain_text("Oslo")

    demo.reload()
    assert wait_for_answer(demo) == said
    expect(demo.locator(".question-text")).to_have_text([TOOLS])


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_reload_in_mid_answer_loses_and_doubles_nothing(demo: Page) -> None:
    ask(demo, PARAGRAPHS)
    wait_for_words(demo)

    demo.reload()
    wait_for_words(demo)
    expect(demo.get_by_role("button", name="Stop")).to_be_visible()
    watched = wait_for_answer(demo)

    demo.reload()
    assert wait_for_answer(demo) == watched
    expect(demo.locator("chat-answer")).to_have_count(1)
    expect(demo.locator(".question-text")).to_have_text([PARAGRAPHS])


@pytest.mark.walkthrough
def test_a_second_tab_sees_the_same_and_may_stop_it(demo: Page, context: BrowserContext) -> None:
    ask(demo, STORY)
    wait_for_words(demo)

    other = context.new_page()
    problems = watch(other)
    other.goto(demo.url)
    wait_for_words(other)
    other.get_by_role("button", name="Stop").click()

    for tab in (demo, other):
        expect(tab.locator("chat-answer .notice")).to_contain_text("Stopped.")
    assert wait_for_answer(demo) == wait_for_answer(other)
    assert problems == []


def test_a_conversation_goes_on_after_it_was_stopped(demo: Page) -> None:
    ask(demo, STORY)
    wait_for_words(demo)
    demo.keyboard.press("Escape")
    expect(demo.locator("chat-answer .notice")).to_contain_text("Stopped.")

    demo.reload()
    expect(demo.locator("chat-answer .notice")).to_contain_text("Stopped.")
    ask(demo, "What is the weather in Oslo?")
    expect(demo.locator("chat-answer")).to_have_count(2)

    assert "light rain" in wait_for_answer(demo)


@pytest.mark.slow("a walk through several pages in a browser")
@pytest.mark.walkthrough
def test_a_lost_connection_to_the_real_server_is_made_good(
    demo: Page, context: BrowserContext
) -> None:
    ask(demo, PARAGRAPHS)
    wait_for_words(demo)

    context.set_offline(True)
    expect(demo.locator("#notice")).to_contain_text("Connection lost")
    context.set_offline(False)
    expect(demo.locator("#notice")).to_be_hidden()
    watched = wait_for_answer(demo)

    demo.reload()
    assert wait_for_answer(demo) == watched


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_conversation_can_be_renamed_and_deleted(demo: Page) -> None:
    ask(demo, "What can you do?")
    wait_for_answer(demo)
    demo.get_by_role("link", name="What can you do?").hover()

    demo.get_by_role("button", name="More options for What can you do?").click()
    demo.get_by_role("menuitem", name="Rename").click()
    demo.get_by_label("Title").fill("Abilities")
    demo.get_by_label("Title").press("Enter")
    expect(demo).to_have_title("Abilities · Demo")
    demo.reload()
    expect(demo).to_have_title("Abilities · Demo")

    address = demo.url
    demo.get_by_role("link", name="Abilities").hover()
    demo.get_by_role("button", name="More options for Abilities").click()
    demo.get_by_role("menuitem", name="Delete").click()
    demo.wait_for_url("**/chat/demo/")
    expect(demo.get_by_role("link", name="Abilities")).to_have_count(0)
    demo.goto(address)
    expect(demo).to_have_url(re.compile("/accounts/login/"))  # it may be that of an account


@pytest.mark.slow("a walk through several pages in a browser")
@pytest.mark.walkthrough
def test_what_a_visitor_said_is_theirs_after_signing_in_and_nobody_elses(
    demo: Page, browser: Browser
) -> None:
    ask(demo, "What can you do?")
    said = wait_for_answer(demo)
    address = demo.url

    stranger = browser.new_page()
    stranger.goto(address)
    expect(stranger).to_have_url(re.compile("/accounts/login/"))
    stranger.close()

    open_account(demo)
    demo.get_by_role("link", name="Sign in").click()
    demo.get_by_label("Username").fill(ADMIN["username"])
    demo.get_by_label("Password").fill(ADMIN["password"])
    demo.get_by_role("button", name="Sign in", exact=True).click()
    demo.wait_for_url(address)
    assert wait_for_answer(demo) == said
    open_account(demo)
    expect(demo.get_by_role("link", name="Admin", exact=True)).to_be_visible()
    demo.keyboard.press("Escape")

    sign_out(demo)
    demo.wait_for_url("**/")
    open_account(demo)
    expect(demo.get_by_role("link", name="Sign in")).to_be_visible()


def test_an_answer_that_fails_says_so_with_a_reference_that_the_log_has(
    page: Page, site: Site
) -> None:
    site.shell(
        """
        demo = Application.objects.get(slug="demo")
        orchestrator = demo.manifest["orchestrator"] | {"deployment": {"deployment_id": "nowhere"}}
        Application.objects.create(
            slug="broken", title="Broken", is_public=True,
            manifest=demo.manifest | {"orchestrator": orchestrator},
        )
        """
    )
    page.goto("/chat/broken/")
    question(page).fill("Are you well?")
    question(page).press("Enter")

    failure = page.locator(".failure")
    expect(failure).to_be_visible()
    reference = failure.locator("code").inner_text()
    assert re.fullmatch("[0-9a-f]{8}", reference)
    assert reference in site.log.read_text()
    page.get_by_role("button", name="Try again").click()
    expect(failure.locator("code")).not_to_have_text(reference)
    for _ in ("live", "after a reload"):
        expect(failure).to_have_count(1)
        expect(page.locator(".question-text")).to_have_text(["Are you well?"])
        page.reload()
