"""Users' preferences, and their effect on pages and models."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from apps.accounts.preferences import Preferences, own_instructions

pytestmark = pytest.mark.django_db

JSON = {"Accept": "application/json"}
LOOK = {"theme": "contrast", "density": "compact", "text_size": "large", "width": "wide"}
KEPT = (
    'data-kept="yes" data-theme="contrast" data-density="compact" data-text-size="large" '
    'data-width="wide" data-send-key="enter" data-shortcuts="on" data-voice="off" data-spoken="on"'
)


def test_choices_are_on_every_page_before_it_is_painted(browser):
    before = browser.get("/").text
    saved = browser.post("/settings/appearance/", LOOK)

    assert saved.headers["Location"] == "/settings/#appearance"
    assert '<html lang="en">' in before
    assert KEPT in browser.get("/").text
    assert KEPT not in Client().get("/").text


def send(browser: Client, part: str, **changed: str) -> Any:
    """Save fields like the script of the page. Boxes that are off have no value."""
    fields = {name: value for name, value in changed.items() if value != "off"}
    return browser.post(f"/settings/{part}/", {**fields, "changed": list(changed)}, headers=JSON)


def test_a_script_saves_without_a_message_for_the_next_page(browser, grace):
    saved = send(browser, "appearance", **LOOK)

    assert (saved.status_code, saved.content) == (204, b"")
    assert Preferences.objects.get(user=grace).theme == "contrast"
    assert 'class="notice"' not in browser.get("/settings/").text


def test_a_script_reads_what_is_wrong_at_which_field(browser):
    refused = send(browser, "instructions", instructions="x" * 4001)

    problem = "Ensure this value has at most 4000 characters (it has 4001)."
    assert (refused.status_code, refused.json()) == (400, {"instructions": [problem]})
    assert not Preferences.objects.exists()


def test_two_tabs_do_not_overwrite_what_the_other_one_changed(browser, grace):
    send(browser, "writing", has_voice="on")
    send(browser, "writing", has_shortcuts="off")
    send(browser, "appearance", density="compact")

    stored = Preferences.objects.get(user=grace)
    assert (stored.has_voice, stored.has_shortcuts, stored.send_key) == (True, False, "enter")
    assert (stored.density, stored.theme) == ("compact", "system")


def test_the_switch_of_a_page_keeps_the_theme(browser, grace):
    kept = browser.post("/settings/theme/", {"theme": "dark"})
    refused = browser.post("/settings/theme/", {"theme": "pink"})

    assert (kept.status_code, refused.status_code) == (204, 400)
    assert refused.text == "theme: use one of system, light, dark, contrast."
    assert Preferences.objects.get(user=grace).theme == "dark"


async def test_own_instructions_are_read_while_they_are_switched_on(browser, grace):
    async def read_after(form: dict[str, Any]) -> str:
        await sync_to_async(browser.post)("/settings/instructions/", form)
        return await own_instructions(grace.pk)

    said = {"instructions": "Be brief."}
    assert await own_instructions(grace.pk) == ""
    assert await read_after({**said, "uses_instructions": "on"}) == "Be brief."
    assert await read_after(said) == ""


def test_instructions_that_are_too_long_are_refused_at_their_field(browser):
    refused = browser.post("/settings/instructions/", {"instructions": "x" * 4001})

    assert refused.status_code == 400
    assert "at most 4000 characters" in refused.text
    assert not Preferences.objects.exists()


def test_a_part_that_there_is_not_is_not_found(browser):
    assert browser.post("/settings/odd/", {}).status_code == 404


def test_visitors_have_settings_that_their_browser_keeps(browser):
    page = Client().get("/settings/").text

    assert "Your settings are stored in this browser" in page
    assert "Custom instructions" not in page
    assert Client().post("/settings/appearance/", LOOK).status_code == 302
    assert not Preferences.objects.exists()
