"""Cards that ask the user: the real site, a real tool, a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chat.scripted import ScriptedSocket
from tests.browser.conftest import barriers_of_looks, pick
from tests.contract import proves
from tests.peers.upstream import serve_upstream
from tests.sites.fork_server import ROOT
from tests.sites.serving import Site

SLUG = "interactions"
APPROVAL = {
    "mode": "confirm",
    "seconds": 3600,
    "editable": ["city"],
    "always": ["conversation", "application"],
}
PREPARE = """
Deployment.objects.create(
    deployment_id=slug, display_name="Asker", base_url=url, model_name="m", api_key="k"
)
orchestrator = {
    "deployment": {"deployment_id": slug},
    "system_prompt": {"type": "custom", "content": "You help.", "variables": {}},
}
Application.objects.create(
    slug=slug,
    title=slug.title(),
    is_public=True,
    manifest={"orchestrator": orchestrator, "contexts": [], "tool_sets": [toolset]},
)
"""
CARD = "section.interaction"
SET_MODE = """
application = Application.objects.get(slug=slug)
application.manifest["tool_sets"][0]["approval"]["mode"] = mode
application.save()
"""


@contextmanager
def guarded_shop(site: Site, slug: str) -> Iterator[str]:
    """Return the address of an application whose tool calls need approval."""
    demo = json.loads((ROOT / "predefined" / "application" / "demo.json").read_text())
    [toolset] = [one for one in demo["manifest"]["tool_sets"] if one["type"] == "rest-api"]
    with serve_upstream() as upstream:
        toolset["approval"] = APPROVAL
        site.shell(PREPARE, url=upstream.url, slug=slug, toolset=toolset)
        yield f"/chat/{slug}/"


@pytest.fixture(scope="module")
def address(site: Site) -> Iterator[str]:
    with guarded_shop(site, SLUG) as found:
        yield found


def ask(page: Page, address: str) -> None:
    page.goto(address)
    question = page.get_by_label("Your question")
    question.fill("call Weather_now")
    question.press("Enter")


@proves("D-22", "D-48")
@pytest.mark.walkthrough
@pytest.mark.slow("uses several pages in a browser")
def test_a_call_is_approved_with_a_changed_argument_after_a_reload(page: Page, address: str):
    ask(page, address)
    card = page.locator(CARD)
    expect(card).to_be_focused()
    expect(page).to_have_title("Waiting for you · call Weather_now · Interactions")
    page.reload()

    expect(card.locator(".risk")).to_have_text("Only reads data")
    expect(card.get_by_role("timer")).to_contain_text("left")
    assert barriers_of_looks(page) == []
    card.get_by_label("city").fill("Riga")
    card.get_by_role("button", name="Approve").click()

    expect(page.locator("chat-answer > markdown-text")).to_contain_text("Riga")
    expect(page.locator(".decision")).to_contain_text("Approved by you")
    expect(page.locator(".decision")).to_contain_text("with changes to City")
    expect(page).to_have_title("call Weather_now · Interactions")
    assert barriers_of_looks(page) == []


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_person_who_is_not_asked_again_can_withdraw_that(page: Page, address: str):
    ask(page, address)
    page.get_by_label("Next time").select_option("Don’t ask again in this app")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".answer-foot")).to_be_visible()
    ask(page, address)
    expect(page.locator(".answer-foot")).to_be_visible()
    expect(page.locator("chat-interaction")).to_have_count(0)

    page.goto("/approvals/")
    assert barriers_of_looks(page) == []
    page.get_by_role("button", name="Ask again for Weather now").click()
    expect(page.get_by_text("No tools yet. Tools for which you choose")).to_be_visible()

    ask(page, address)
    expect(page.locator(CARD)).to_be_visible()


@pytest.mark.slow("uses several pages in a browser")
def test_a_person_is_asked_each_time_where_the_application_asks_nobody(
    site: Site, page: Page, address: str
):
    settings = page.context.new_page()
    site.shell(SET_MODE, slug=SLUG, mode="auto")
    ask(page, address)
    expect(page.locator(".answer-foot")).to_be_visible()

    settings.goto("/approvals/")
    pick(settings, "App and tool", "Interactions: Weather now")
    settings.get_by_role("button", name="Ask me each time").press("Enter")
    expect(settings.get_by_role("heading", name="Weather now")).to_be_visible()
    pick(settings, "App and tool", "Interactions: all tools")
    settings.get_by_role("button", name="Ask me each time").press("Enter")
    expect(settings.get_by_role("heading", name="All tools")).to_be_visible()
    assert barriers_of_looks(settings) == []
    settings.get_by_role("button", name="Stop asking for Weather now").click()
    expect(settings.get_by_role("heading", name="Weather now")).to_have_count(0)

    ask(page, address)
    expect(page.locator(CARD)).to_be_visible()
    site.shell(SET_MODE, slug=SLUG, mode="confirm")


QUESTION = {
    "title": "The trip",
    "question": "Where shall it go?",
    "input": "single",
    "options": [{"label": "Riga", "description": "By the sea"}, {"label": "Oslo"}],
    "freeform": True,
}


def test_a_question_is_answered_by_keyboard(page: Page, address: str):
    socket = ScriptedSocket()
    socket.serve(page)
    ask(page, address)
    key = {"key": "t:1:0:a", "kind": "question"}
    socket.say(type="interaction.requested", **key, asked=QUESTION, due=None)
    socket.say(type="run.status", status="waiting")
    card = page.locator(CARD)
    expect(card).to_be_focused()
    assert barriers_of_looks(page) == []

    page.keyboard.press("Tab")
    expect(card.get_by_label("Riga")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.type("In May.")
    page.keyboard.press("Enter")

    answer = {"outcome": "answered", "choices": ["Oslo"], "text": "In May."}
    sent = {"type": "answer", "run": socket.run, **key, "answer": answer}
    page.wait_for_function("document.querySelector('.interaction .fields')?.disabled")
    assert socket.received[-1] == sent
    socket.say(type="interaction.resolved", **key, answer=answer, by="you", at=1.5)
    expect(page.locator(".decision")).to_contain_text("Answered by you")
    expect(page.locator(".decision")).to_contain_text("Oslo, In May.")
    expect(page.get_by_label("Your question")).to_be_focused()
    assert barriers_of_looks(page) == []


def test_a_card_out_of_view_has_a_button_that_leads_to_it(page: Page, address: str):
    socket = ScriptedSocket()
    socket.serve(page)
    ask(page, address)
    socket.write("A line of the answer.\n\n" * 60)
    key = {"key": "t:1:0:a", "kind": "question"}
    socket.say(type="interaction.requested", **key, asked=QUESTION, due=None)
    socket.say(type="run.status", status="waiting")
    card, notice = page.locator(CARD), page.locator("#card-notice")
    expect(card).to_be_focused()
    expect(card).to_be_in_viewport()
    expect(notice).to_be_hidden()

    page.evaluate("scrollTo(0, 0)")
    expect(notice).to_be_in_viewport()
    expect(notice).to_have_text("Waiting for your input")
    assert barriers_of_looks(page) == []
    notice.click()

    expect(card).to_be_focused()
    expect(card).to_be_in_viewport()
    expect(notice).to_be_hidden()


def test_cards_that_say_why_they_ask_keep_nobody_out(page: Page, address: str):
    asked = {
        "name": "pay",
        "arguments": {"amount": 5},
        "editable": {},
        "risk": "changes",
        "always": [],
        "because": "This conversation has read untrusted content: <b>web page</b> example.org.",
    }
    socket = ScriptedSocket()
    socket.serve(page)
    ask(page, address)

    for key, four_eyes in (("a", False), ("b", True)):
        card = {**asked, "title": f"Pay {key}", "four_eyes": four_eyes}
        socket.say(type="interaction.requested", key=key, kind="approval", asked=card, due=None)
    socket.say(type="run.status", status="waiting")

    expect(page.locator(CARD).locator(".because")).to_have_count(2)
    assert barriers_of_looks(page) == []
