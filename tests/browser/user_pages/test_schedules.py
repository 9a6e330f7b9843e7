"""Alarms and schedules are set in the chat, run without an open page, and managed on their page."""

from __future__ import annotations

import json
import os
import time

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import barriers, pick, sign_in_as_admin, watch
from tests.contract import proves
from tests.sites.fork_server import ROOT
from tests.sites.serving import Site

PATIENCE = 60
PREPARE = """
Application.objects.create(slug="reminding", title="Reminder", is_shared=True, manifest=plain)
Application.objects.create(slug="careful", title="Careful", is_shared=True, manifest=careful)
"""
ANSWERS = """
from apps.conversations.models import Message
rows = Message.objects.filter(conversation__application__slug=slug, role="assistant")
result = rows.count()
"""


@pytest.fixture(scope="module", autouse=True)
def applications(site: Site, demo_model: None) -> None:
    plain = json.loads((ROOT / "predefined/application/demo.json").read_text())["manifest"]
    careful = json.loads(json.dumps(plain))
    careful["tool_sets"][0]["approval"] = {"mode": "confirm"}
    site.shell(PREPARE, plain=plain, careful=careful)


def wait_for_answers(site: Site, slug: str, count: int) -> None:
    end = time.monotonic() + PATIENCE
    while site.shell(ANSWERS, slug=slug) < count:
        assert time.monotonic() < end, "nothing was answered"


def photograph(page: Page, name: str) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


@pytest.mark.slow("a walk through several pages in a browser")
@proves("D-41")
def test_an_alarm_is_set_in_the_chat_and_answered_while_nobody_looks(page: Page, site: Site):
    sign_in_as_admin(page, site)
    page.goto("/chat/reminding/")
    question = page.get_by_label("Your question")
    question.fill("Remind me in 5 seconds to water the plants.")
    question.press("Enter")
    expect(page.locator("chat-answer > markdown-text")).to_contain_text("The alarm is set: On ")
    address = page.url
    page.goto("about:blank")
    wait_for_answers(site, "reminding", 2)

    page.goto(address)

    expect(page.locator("chat-answer").nth(1)).to_contain_text("Reminder: water the plants")
    expect(page.locator(".question-sender")).to_contain_text("Alarm")
    assert barriers(page) == []
    photograph(page, "alarm")


@pytest.mark.slow("a walk through several pages in a browser")
@pytest.mark.walkthrough
def test_a_schedule_is_made_runs_by_itself_and_is_approved_from_a_second_device(
    page: Page, site: Site, browser: Browser
):
    problems = watch(page)
    sign_in_as_admin(page, site)
    page.goto("/scheduled/")
    expect(page.get_by_role("heading", name="No schedules yet")).to_be_visible()
    page.get_by_role("link", name="New schedule").click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="App: Choose an app")).to_be_focused()
    expect(page.locator(".field-error").first).to_have_text("Choose an app.")
    pick(page, "App", "Careful")
    page.get_by_label("Name").fill("Weather report")
    page.get_by_label("Message").fill("What is the weather in Oslo?")
    expect(page.get_by_label("Expression")).to_be_hidden()
    preview = page.get_by_role("region", name="Next runs").get_by_role("listitem")
    expect(preview).to_have_count(3)
    page.get_by_label("Repeats").select_option("monthly")
    page.get_by_label("Time", exact=True).fill("17:45")
    expect(preview.first).to_contain_text("1 ")
    expect(preview.first).to_contain_text("at 17:45")
    page.get_by_label("Repeats").select_option("advanced")
    page.get_by_label("Runs", exact=True).select_option("interval")
    expect(page.get_by_label("Expression")).to_be_hidden()
    page.get_by_label("Every").fill("1")
    page.locator("summary", has_text="More options").click()
    wait = page.get_by_label("Minutes to wait for an answer")
    expect(wait).to_be_hidden()
    page.get_by_label("If a run asks a question").select_option("deny")
    expect(wait).to_be_visible()
    page.get_by_label("If a run asks a question").select_option("wait")
    expect(wait).to_be_hidden()
    page.get_by_label("Maximum runs").fill("9")
    page.get_by_label("Repeats").select_option("daily")
    expect(page.get_by_label("Delete the schedule after its last run")).to_be_visible()
    page.get_by_label("Maximum runs").fill("")
    expect(page.get_by_label("Delete the schedule after its last run")).to_be_hidden()
    page.get_by_label("Repeats").select_option("advanced")
    assert barriers(page) == []
    photograph(page, "schedule-form")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("Schedule created: Every hour")
    page.get_by_role("button", name="Run now Weather report").click()

    with browser.new_context(base_url=site.url, color_scheme="dark") as second:
        phone = second.new_page()
        phone.set_viewport_size({"width": 390, "height": 800})
        sign_in_as_admin(phone, site)
        phone.goto("/scheduled/")
        phone.get_by_role(
            "link", name="Open the last answer from the schedule “Weather report”"
        ).click()
        phone.locator("section.interaction").get_by_role("button", name="Approve").click()
        expect(phone.locator("chat-answer")).to_contain_text("Oslo")
        wait_for_answers(site, "careful", 1)
        phone.goto("/scheduled/")
        expect(phone.locator(".schedule-result")).to_contain_text("Answered")
        assert barriers(phone) == []
        photograph(phone, "scheduled-dark-390")

    page.reload()
    page.get_by_role("button", name="More: Weather report").click()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("You paused this schedule.")).to_be_visible()
    photograph(page, "scheduled-light")
    page.get_by_role("button", name="More: Weather report").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="No schedules yet")).to_be_visible()
    assert problems == []
