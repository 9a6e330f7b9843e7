"""A whole conversation with a screen reader: announcements, and the structure of the page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chat.test_demo import question, wait_for_answer
from tests.sites.serving import Site

LISTEN = """
window.spoken = [];
addEventListener("DOMContentLoaded", () => {
  const heard = (region, text) => text.trim() && window.spoken.push(`${region.id}: ${text.trim()}`);
  for (const id of ["said", "warned"]) {
    const region = document.getElementById(id);
    new MutationObserver(() => heard(region, region.textContent)).observe(region, { childList: true });
  }
  const region = document.getElementById("spoken");
  new MutationObserver((records) => {
    for (const { addedNodes } of records) for (const node of addedNodes) heard(region, node.textContent);
  }).observe(region, { childList: true });
});
"""


HEARD = """
said: Answer started.
spoken: Weather now (Oslo)
spoken: City: Oslo
spoken: Country: Norway
spoken: Conditions: light rain
spoken: Temperature (°C): 24
spoken: Wind (km/h): 6
spoken: Humidity (%): 46
spoken: Note: Demo data: made up, and the same every time.
spoken: The built-in demo model only repeats what the tools returned.
said: Answer complete.
"""
WALKED = """
- log "Conversation":
  - heading "Question" [level=2]
  - paragraph: What is the weather in Oslo?
  - toolbar "Question actions":
    - button "Edit the question"
    - button "Copy the question"
    - button "Delete question and answer"
  - heading "Answer" [level=2]
  - list "Steps":
    - listitem:
      - group: Weather in Oslo Done # s
  - paragraph:
    - strong: Weather now
    - text: (Oslo)
  - list:
    - listitem:
      - strong: "City:"
      - text: Oslo
    - listitem:
      - strong: "Country:"
      - text: Norway
    - listitem:
      - strong: "Conditions:"
      - text: light rain
    - listitem:
      - strong: "Temperature (°C):"
      - text: "24"
    - listitem:
      - strong: "Wind (km/h):"
      - text: "6"
    - listitem:
      - strong: "Humidity (%):"
      - text: "46"
    - listitem:
      - strong: "Note:"
      - text: "Demo data: made up, and the same every time."
  - paragraph:
    - emphasis: The built-in demo model only repeats what the tools returned.
  - toolbar "Answer actions":
    - button "Copy as Markdown"
    - button "Answer again"
    - button "More options for this answer"
  - button "Good answer"
  - button "Bad answer"
  - status
  - group: "Details: # s · # tokens"
"""
FIGURES = re.compile(r"(< )?[\d.,]+ (?=s\b|tokens)")


@pytest.fixture(scope="module", autouse=True)
def content(site: Site) -> None:
    site.manage("import_content")


def hear(page: Page, text: str) -> list[str]:
    """Return the announcements from the question to the end of the answer."""
    page.add_init_script(LISTEN)
    page.goto("/chat/demo/")
    question(page).fill(text)
    question(page).press("Enter")
    wait_for_answer(page)
    expect(page.locator("#said")).to_have_text("Answer complete.")
    heard: list[str] = page.evaluate("spoken")
    return heard


def test_a_conversation_is_heard_as_it_is_written_and_walked_through_afterwards(page: Page) -> None:
    heard = hear(page, "What is the weather in Oslo?")

    assert heard == HEARD.strip().splitlines()
    walked = page.locator("[role=log]").aria_snapshot()
    assert FIGURES.sub("# ", walked) == WALKED.strip()


@pytest.mark.slow("uses several pages in a browser")
def test_code_and_tables_are_named_and_not_read(page: Page) -> None:
    heard = hear(page, "Show me Markdown.")
    answer = page.locator("chat-answer .answer-text")

    said = " ".join(heard)
    assert (heard.count("spoken: Code."), heard.count("spoken: A table.")) == (
        answer.locator("pre").count(),
        answer.locator("table").count(),
    )
    assert answer.locator("pre").count() > 0
    for hidden in answer.locator("pre, td").all_inner_texts():
        assert hidden.strip() not in said


def test_answers_are_not_spoken_to_who_does_not_want_that(page: Page) -> None:
    page.goto("/settings/")
    page.get_by_label("Announce answers as they’re written").uncheck()
    expect(page.locator("#said")).to_have_text("Saved in this browser.")
    expect(page.locator(".toast")).to_contain_text("Saved in this browser.")
    heard = hear(page, "What is the weather in Oslo?")

    assert heard == ["said: Answer started.", "said: Answer complete."]
