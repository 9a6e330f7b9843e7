"""The editor in a frame on a page of another origin, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from tests.browser.conftest import ADMIN, barriers, sign_in_as_admin, watch
from tests.browser.studio.chat_host import serve_host
from tests.dial_core import Core, serve_core
from tests.dial_core.core import KEY
from tests.sites.serving import Site, serve

TYPE = "https://mydial.epam.com/custom_application_schemas/quickapps2"
NAME = "Quick App 2.0"
MANIFEST = {
    "orchestrator": {"deployment": {"deployment_id": "demo-model"}},
    "contexts": [],
    "tool_sets": [],
}


@dataclass(frozen=True, slots=True)
class Chat:
    """A site, the origin of the page that frames its editor, and the Core of both."""

    site: Site
    origin: str
    core: Core

    def open(self, page: Page, id: str, **parameters: str) -> FrameLocator:
        query = {"authProvider": "keycloak", "id": id, "theme": "light", **parameters}
        address = f"{self.site.url}/dial/editor/?{urlencode(query)}"
        page.goto(f"{self.origin}/?{urlencode({'frame': address})}")
        return page.frame_locator("iframe")

    def add_application(self, slug: str) -> None:
        self.site.shell(
            """
            Application.objects.create(slug=slug, title=slug.title(), manifest=manifest)
            """,
            slug=slug,
            manifest=MANIFEST,
        )

    def saved(self, slug: str) -> Any:
        return self.site.shell(
            """
            row = Application.objects.get(slug=slug)
            result = {"title": row.title, "prompt": row.manifest["orchestrator"].get(
                "system_prompt", {}).get("content"), "version": row.version}
            """,
            slug=slug,
        )


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chat]:
    folder = tmp_path_factory.mktemp("framed")
    with serve_core() as core, serve_host() as origin:
        settings = {
            "ALLOWED_FRAME_ANCESTORS": "http://127.0.0.1:*",
            "ALLOWED_ORIGIN": origin,
            "DIAL_URL": core.url,
            "DIAL_EDITOR_API_KEY": KEY,
        }
        with serve(folder, **settings) as site:
            site.shell(
                """
                from django.contrib.auth.models import User
                User.objects.create_superuser(name, "", password)
                Deployment.objects.get_or_create(
                    deployment_id="demo-model", defaults={"provider": "demo"}
                )
                """,
                name=ADMIN["username"],
                password=ADMIN["password"],
            )
            yield Chat(site, origin, core)


@pytest.fixture
def page(browser: Browser, chat: Chat) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    context.set_default_timeout(60_000)
    opened = context.new_page()
    problems = watch(opened)
    yield opened
    context.close()
    assert problems == []


@pytest.fixture
def operator(page: Page, chat: Chat) -> Page:
    sign_in_as_admin(page, chat.site)
    return page


def sign_in(page: Page) -> None:
    page.get_by_label("Username").fill(ADMIN["username"])
    page.get_by_label("Password").fill(ADMIN["password"])
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="You are signed in")).to_be_visible()


def wait_for(page: Page, type: str, times: int = 1) -> dict[str, Any]:
    """Wait until the host has heard that many messages of the type. Return the last one."""
    page.wait_for_function(
        "([type, times]) => heard.filter((one) => one.type === type).length >= times",
        arg=[type, times],
    )
    found: list[dict[str, Any]] = page.evaluate(
        "(type) => heard.filter((one) => one.type === type)", type
    )
    return found[times - 1]


def types(page: Page) -> list[str]:
    found: list[str] = page.evaluate("heard.map((one) => one.type)")
    return found


def write_prompt(frame: FrameLocator, text: str) -> None:
    field = frame.get_by_role("textbox", name="Content").first
    field.fill(text)


def test_the_host_saves_what_was_typed_and_what_it_edits_itself(operator: Page, chat: Chat):
    chat.add_application("framed-save")
    frame = chat.open(operator, "framed-save")
    wait_for(operator, f"{NAME}/readyToInteract")
    wait_for(operator, f"{NAME}/readyToSave")
    assert wait_for(operator, "HEIGHT_CHANGE")["height"] > 100
    assert barriers(operator) == []

    write_prompt(frame, "Be brief.")
    operator.evaluate("ask({ type: 'TRIGGER_SAVE', general: { name: 'Renamed' } })")

    assert wait_for(operator, "SAVE_SUCCESS")["hasChanges"] is True
    assert wait_for(operator, "DIRTY_STATE")["isDirty"] is True
    assert wait_for(operator, "DIRTY_STATE", 2)["isDirty"] is False
    assert chat.saved("framed-save") == {"title": "Renamed", "prompt": "Be brief.", "version": 2}
    operator.evaluate("ask({ type: 'TRIGGER_SAVE' })")
    assert wait_for(operator, "SAVE_SUCCESS", 2)["hasChanges"] is False
    assert "SAVE_ERROR" not in types(operator)


def test_a_mistake_stands_at_its_field_and_the_host_is_told(operator: Page, chat: Chat):
    chat.add_application("framed-mistake")
    frame = chat.open(operator, "framed-mistake", theme="dark")
    wait_for(operator, f"{NAME}/readyToSave")

    frame.get_by_role("textbox", name="Deployment ID").first.fill("")
    operator.evaluate("ask({ type: 'TRIGGER_SAVE' })")

    said = "The manifest has 1 error, listed next to it. Nothing was saved."
    assert wait_for(operator, "SAVE_ERROR")["error"] == said
    expect(frame.get_by_role("alert")).to_have_text(said)
    expect(frame.locator("[data-form] .manifest-editor-error")).to_be_visible()
    assert chat.saved("framed-mistake")["version"] == 1
    assert barriers(operator) == []


def test_the_second_of_two_operators_is_told_and_loses_nothing(operator: Page, chat: Chat):
    chat.add_application("framed-conflict")
    frame = chat.open(operator, "framed-conflict")
    wait_for(operator, f"{NAME}/readyToSave")
    chat.site.shell("Application.objects.get(slug=slug).save()", slug="framed-conflict")

    write_prompt(frame, "Mine.")
    operator.evaluate("ask({ type: 'TRIGGER_SAVE' })")
    told = wait_for(operator, "SAVE_ERROR")["error"]
    operator.evaluate("ask({ type: 'TRIGGER_SAVE' })")
    wait_for(operator, "SAVE_SUCCESS")

    assert told.startswith("Another user saved this application while you were editing it.")
    assert chat.saved("framed-conflict")["prompt"] == "Mine."


def test_an_application_that_core_keeps_is_saved_there(operator: Page, chat: Chat):
    holder = chat.core.keys.holder(KEY)
    assert holder is not None
    name = f"applications/{holder.identity.bucket}/Travel__1.0"
    chat.core.add_application(name, "http://127.0.0.1:9/", MANIFEST, schema_id=TYPE)
    frame = chat.open(operator, name)
    wait_for(operator, f"{NAME}/readyToSave")

    write_prompt(frame, "Kept by Core.")
    frame.get_by_role("button", name="Save manifest").click()

    wait_for(operator, f"{NAME}/updatedApplicationSuccess")
    assert b"Kept by Core." in chat.core.storage.items[name].content


def test_it_saves_by_itself_when_asked_and_starts_anew(operator: Page, chat: Chat):
    chat.add_application("framed-auto")
    frame = chat.open(operator, "framed-auto")
    wait_for(operator, f"{NAME}/readyToSave")

    operator.evaluate("ask({ type: 'TRIGGER_AUTO_SAVE', payload: {} })")
    wait_for(operator, "AUTO_SAVE_COMPLETE")
    assert "SAVE_SUCCESS" not in types(operator)
    write_prompt(frame, "Saved by itself.")
    operator.evaluate("ask({ type: 'TRIGGER_AUTO_SAVE', payload: {} })")
    wait_for(operator, "AUTO_SAVE_COMPLETE", 2)
    assert chat.saved("framed-auto")["prompt"] == "Saved by itself."
    write_prompt(frame, "Thrown away.")
    operator.evaluate("ask({ type: 'RESET' })")
    wait_for(operator, f"{NAME}/readyToSave", 2)

    expect(frame.get_by_role("textbox", name="Content").first).to_have_value("Saved by itself.")


def test_who_is_signed_out_signs_in_in_a_new_window(page: Page, chat: Chat):
    chat.add_application("framed-out")
    frame = chat.open(page, "framed-out", theme="dark")

    wait_for(page, f"{NAME}/loggedOut")
    expect(frame.get_by_role("heading")).to_have_text("You are signed out")
    assert barriers(page) == []
    with page.context.expect_page() as opening:
        frame.get_by_role("link", name="Sign in (new window)").click()
    sign_in(opening.value)
    frame.get_by_role("link", name="Open the editor").click()

    wait_for(page, f"{NAME}/readyToSave")


def test_who_is_signed_out_while_typing_loses_nothing(operator: Page, chat: Chat):
    chat.add_application("framed-expired")
    frame = chat.open(operator, "framed-expired")
    wait_for(operator, f"{NAME}/readyToSave")
    write_prompt(frame, "Typed before.")
    operator.context.clear_cookies(name="sessionid")

    operator.evaluate("ask({ type: 'TRIGGER_SAVE' })")
    wait_for(operator, f"{NAME}/loggedOut")
    with operator.context.expect_page() as opening:
        frame.get_by_role("link", name="Sign in (new window)").click()
    sign_in(opening.value)
    operator.evaluate("ask({ type: 'TRIGGER_SAVE' })")
    wait_for(operator, "SAVE_SUCCESS")

    assert chat.saved("framed-expired")["prompt"] == "Typed before."


def test_a_page_that_may_frame_it_but_is_not_the_chat_is_not_talked_to(operator: Page, chat: Chat):
    chat.add_application("framed-stranger")
    with serve_host() as stranger:
        frame = replace(chat, origin=stranger).open(operator, "framed-stranger")
        expect(frame.locator("[data-status]")).to_have_text("No issues.")
        operator.evaluate("ask({ type: 'TRIGGER_SAVE', general: { name: 'Stolen' } })")
        frame.get_by_role("button", name="Save manifest").click()
        expect(frame.locator("[data-saved]")).to_have_text("There were no changes.")
        heard = types(operator)

    assert (heard, chat.saved("framed-stranger")["version"]) == ([], 1)


def test_a_page_of_another_host_cannot_frame_it(browser: Browser, chat: Chat):
    stranger = chat.origin.replace("127.0.0.1", "localhost")
    opened = browser.new_page()
    with opened.expect_console_message(lambda said: "frame-ancestors" in said.text):
        replace(chat, origin=stranger).open(opened, "framed-stranger")

    assert types(opened) == []
    opened.close()
