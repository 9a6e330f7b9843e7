"""The quick start, step by step, with a picture of each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, expect

QUESTION = "What is the weather in Oslo, and what time is it in Tokyo?"
PROMPT = "You help people plan trips. Look up the weather before you recommend anything."


@dataclass(frozen=True, slots=True)
class Album:
    """Takes pictures of pages into a folder."""

    folder: Path

    def take(self, page: Page, name: str) -> None:
        page.evaluate("document.fonts.ready")
        page.screenshot(path=self.folder / f"{name}.png")


def walk(page: Page, password: str, album: Album) -> None:
    """Take the pictures of the quick start, and stay signed in."""
    ask_the_demo(page)
    album.take(page, "chat")
    sign_in(page, password)
    build_an_application(page, album)
    connect_a_model(page)
    album.take(page, "deployment")


def ask_the_demo(page: Page) -> None:
    page.goto("/")
    page.get_by_role("link", name="Demo", exact=True).click()
    page.get_by_label("Your question").fill(QUESTION)
    page.get_by_label("Your question").press("Enter")
    expect(page.locator("chat-answer .answer-foot")).to_be_visible()


def sign_in(page: Page, password: str) -> None:
    page.goto("/admin/")
    page.locator("[name=username]").fill("admin")
    page.locator("[name=password]").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/admin/")


def build_an_application(page: Page, album: Album) -> None:
    page.goto("/admin/catalog/application/new/")
    page.get_by_label("Title").fill("Travel desk")
    page.get_by_role("button", name="Create and open the studio").click()
    page.get_by_role("textbox", name="Prompt", exact=True).fill(PROMPT)
    section(page, "Tools")
    page.get_by_role("button", name="Or add from:").click()
    page.get_by_role("option", name="Predefined toolset").click()
    page.get_by_role("button", name="Add Weather", exact=True).click()
    ask_the_draft(page)
    expect(page.locator(".studio-saved")).to_have_text("Saved")
    album.take(page, "studio")
    page.get_by_role("button", name="Publish…").click()
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.locator(".studio-bar .studio-status")).to_have_text("Published as version 1.")


def section(page: Page, name: str) -> None:
    menu = page.get_by_role("navigation", name="Sections of the application")
    menu.get_by_role("link", name=name).click()


def ask_the_draft(page: Page) -> None:
    page.get_by_label("Your question").fill("What is the weather in Lima?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_label("Answer of the draft")).to_contain_text("1 tool call")


def connect_a_model(page: Page) -> None:
    page.goto("/admin/workspace/deployment/add/")
    page.get_by_label("Base URL").fill("https://api.openai.com/v1")
    page.get_by_label("Model name").fill("gpt-5-mini")
