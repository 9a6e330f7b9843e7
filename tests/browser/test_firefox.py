"""The main paths of the page in a second engine, with its own keyboard and mouse."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import tests.browsers.firefox
from tests.browser.firefox import ENTER, FirefoxPage, firefox
from tests.sites.serving import Site

ANSWERED = "document.querySelectorAll('.answer-foot').length === {}"
QUESTIONS = "[...document.querySelectorAll('.question-text')].map((one) => one.textContent.trim())"
HEIGHT = "document.getElementById('question').offsetHeight"
FITS = "document.documentElement.scrollWidth <= innerWidth"


@pytest.fixture(scope="module", autouse=True)
def content(site: Site) -> None:
    site.manage("import_content")


@pytest.fixture
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FirefoxPage]:
    path = tests.browsers.firefox.find()
    if path is None:
        pytest.skip(tests.browsers.firefox.ABSENCE)
    with firefox(path, tmp_path_factory.mktemp("firefox")) as opened:
        yield opened
        assert opened.problems == []


def ask(page: FirefoxPage, text: str, answers: int = 1) -> None:
    page.click("#question")
    page.wait_for("document.activeElement.id === 'question'")
    page.press(text)
    page.wait_for(f"document.getElementById('question').value === {json.dumps(text)}")
    page.wait_for("document.querySelector('chat-composer [type=submit]').ariaDisabled === 'false'")
    page.press(ENTER)
    page.wait_for(ANSWERED.format(answers))


@pytest.mark.slow("a Firefox of its own")
def test_firefox_shows_steps_answers_and_what_was_asked_before(
    page: FirefoxPage, site: Site
) -> None:
    page.goto(f"{site.url}/chat/demo/")
    ask(page, "What is the weather in Oslo and Lima, and what time is it in Tokyo?")
    steps = page.evaluate(
        "[...document.querySelectorAll('.step:not(.activity) .step-title')].map((one) => one.textContent.trim())"
    )
    assert sorted(steps) == ["Current time", "Weather in Lima", "Weather in Oslo"]
    first = page.evaluate("location.pathname")
    assert first != "/chat/demo/"
    answer = "document.querySelector('chat-answer').innerText"
    said = page.evaluate(answer)

    page.reload()
    page.wait_for(ANSWERED.format(1))
    assert page.evaluate(answer) == said

    page.click("#new-chat")
    page.wait_for("location.pathname === '/chat/demo/'")
    page.wait_for("!document.querySelector('.question-text')")
    ask(page, "Write 8 paragraphs about rain.")
    page.click(f"a[href='{first}']")
    page.wait_for(f"location.pathname === '{first}' && {QUESTIONS}.length === 1")
    assert page.evaluate(answer) == said
    ask(page, "And in Riga?", answers=2)

    page.resize(360, 780)
    assert page.wait_for(FITS)
    assert page.evaluate(QUESTIONS)[1:] == ["And in Riga?"]


def test_firefox_makes_the_box_as_high_as_its_text(page: FirefoxPage, site: Site) -> None:
    page.goto(f"{site.url}/chat/demo/")
    page.click("#question")
    page.wait_for("document.activeElement.id === 'question'")
    low = page.evaluate(HEIGHT)
    page.press("A longer question. " * 20)
    assert page.wait_for(f"{HEIGHT} > {low} + 60")
