"""Users manage their account: second factors, passkeys, sessions, API keys."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.chat.test_files import PNG
from tests.browser.conftest import barriers, pick, sign_out, watch
from tests.sites.serving import Site

PASSWORD = "a-long-password-for-tests"
PREPARE = """
from django.contrib.auth.models import User
User.objects.filter(username=name).delete()
User.objects.create_user(name, password=password)
"""
APPLICATION = """
Deployment.objects.get_or_create(
    deployment_id="paged-model", defaults={"display_name": "Demo", "provider": "demo"}
)
Application.objects.create(
    slug="paged",
    title="Paged",
    is_shared=True,
    manifest={
        "orchestrator": {"deployment": {"deployment_id": "paged-model"}},
        "contexts": [],
        "tool_sets": [],
        "features": {"timestamp": None},
    },
)
"""
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture(scope="module")
def host(site: Site) -> str:
    """Serve the site under a name, because browsers store no passkeys for IP addresses."""
    site.shell(APPLICATION)
    return site.url.replace("127.0.0.1", "localhost")


@pytest.fixture
def browsers(browser: Browser, host: str) -> Iterator[list[BrowserContext]]:
    made = [browser.new_context(base_url=host, reduced_motion="reduce") for _ in range(2)]
    yield made
    for context in made:
        context.close()


def opened(context: BrowserContext) -> tuple[Page, list[str]]:
    page = context.new_page()
    page.set_default_timeout(60_000)
    return page, watch(page)


def sign_in(page: Page, name: str, wanted: str = "/account/") -> None:
    page.goto(f"/accounts/login/?next={wanted}")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def enter_password(page: Page) -> None:
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()


def code_of(secret: str) -> str:
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30)))


@pytest.mark.slow("a walk through several pages in a browser")
def test_an_authenticator_app_is_set_up_and_asked_for_and_a_recovery_code_opens_too(
    site: Site, browsers: list[BrowserContext]
):
    site.shell(PREPARE, name="totp", password=PASSWORD)
    page, problems = opened(browsers[0])
    sign_in(page, "totp")
    page.get_by_role("link", name="Set up an authenticator app").click()
    assert barriers(page) == []
    enter_password(page)
    secret = page.get_by_label("Setup key").input_value()
    assert page.locator("img[src^='data:image/svg+xml']").count() == 1
    assert barriers(page) == []
    page.get_by_label("Authenticator code").fill(code_of(secret))
    page.get_by_role("button", name="Set up").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    codes = page.locator(".recovery-codes li").all_inner_texts()
    assert len(codes) == 10
    assert barriers(page) == []
    page.get_by_role("link", name="Back to your account").click()
    expect(page.get_by_text("When you sign in, you enter a code from the app.")).to_be_visible()

    other, others_problems = opened(browsers[1])
    sign_in(other, "totp")
    expect(other.get_by_role("heading", name="Two-factor authentication")).to_be_visible()
    assert barriers(other) == []
    other.get_by_label("Code").fill("000000")
    other.get_by_role("button", name="Sign in", exact=True).click()
    expect(other.get_by_text("Incorrect code.")).to_be_visible()
    other.get_by_label("Code").fill(codes[0])
    other.get_by_role("button", name="Sign in", exact=True).click()
    expect(other.get_by_text("Codes left: 9.")).to_be_visible()

    assert problems + others_problems == []


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_passkey_is_registered_and_signs_in_without_a_password(
    site: Site, browsers: list[BrowserContext]
):
    site.shell(PREPARE, name="keyed", password=PASSWORD)
    page, problems = opened(browsers[0])
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    sign_in(page, "keyed")
    page.get_by_role("link", name="Add passkey").click()
    enter_password(page)
    page.get_by_label("Name").fill("Laptop")
    page.get_by_label("Passwordless").check()
    assert barriers(page) == []
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    page.goto("/account/")
    expect(page.get_by_text("Passkey added just now")).to_be_visible()

    sign_out(page)
    page.goto("/accounts/login/?next=/account/")
    assert barriers(page) == []
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
    expect(page.get_by_text("Passkey added just now · Last used just now")).to_be_visible()

    page.get_by_role("link", name="Rename Laptop").click()
    page.get_by_role("link", name="Use a passkey").click()
    assert barriers(page) == []
    page.get_by_role("button", name="Use a passkey").click()
    page.get_by_label("Name").fill("Work laptop")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Work laptop")).to_be_visible()
    assert problems == []


@pytest.mark.slow("uses several pages in a browser")
def test_a_session_that_is_ended_elsewhere_loses_its_open_connections(
    site: Site, browsers: list[BrowserContext]
):
    site.shell(PREPARE, name="roamer", password=PASSWORD)
    there, problems = opened(browsers[0])
    sign_in(there, "roamer", "/chat/paged/")
    there.get_by_role("textbox").first.wait_for()
    there.evaluate(
        """() => {
            window.ended = {};
            const socket = new WebSocket(`ws://${location.host}/ws/chat/paged/`);
            socket.onclose = (event) => { window.ended.socket = event.code; };
            return new Promise((resolve) => { socket.onopen = resolve; });
        }"""
    )
    there.evaluate(
        """async () => {
            const answer = await fetch("/api/notifications");
            const reader = answer.body.getReader();
            await reader.read();
            (async () => {
                while (!(await reader.read()).done);
                window.ended.stream = true;
            })();
        }"""
    )
    here, own_problems = opened(browsers[1])
    sign_in(here, "roamer")
    expect(here.get_by_role("heading", name="This device")).to_be_visible()
    begun = time.monotonic()
    here.get_by_role("button", name="Sign out everywhere else").click()
    there.wait_for_function("() => window.ended.socket === 4401 && window.ended.stream")
    took = time.monotonic() - begun
    there.goto("/account/")

    assert took < 12
    expect(there.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(here.get_by_text("All other devices were signed out.")).to_be_visible()
    assert barriers(here) == []
    assert problems + own_problems == []


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_key_is_made_used_by_a_program_and_dead_with_the_account(
    site: Site, browsers: list[BrowserContext]
):
    site.shell(PREPARE, name="coder", password=PASSWORD)
    page, problems = opened(browsers[0])
    sign_in(page, "coder")
    page.locator("summary", has_text="Create key").click()
    page.get_by_label("Name").nth(1).fill("Script")
    page.get_by_label("Paged").check()
    page.get_by_role("button", name="Create", exact=True).click()
    enter_password(page)
    key = page.locator(".new-key code").inner_text()
    assert barriers(page) == []
    client = openai.OpenAI(api_key=key, base_url=f"{site.url}/openai/v1", max_retries=0)
    said: Any = client.chat.completions.create(
        model="paged", messages=[{"role": "user", "content": "Hello"}]
    )
    assert said.choices[0].message.content
    page.reload()
    assert key not in page.content()
    expect(page.get_by_text("Apps: Paged")).to_be_visible()

    site.shell("User.objects.filter(username='coder').update(is_active=False)")
    deadline = time.monotonic() + 1.5
    with pytest.raises(openai.AuthenticationError):
        while time.monotonic() < deadline:
            client.chat.completions.create(
                model="paged", messages=[{"role": "user", "content": "Hello"}]
            )
    client.close()
    assert problems == []


@pytest.mark.slow("a walk through several pages in a browser")
@pytest.mark.walkthrough
def test_a_name_and_a_picture_are_shown(site: Site, browsers: list[BrowserContext]):
    site.shell(PREPARE, name="pictured", password=PASSWORD)
    page, problems = opened(browsers[0])
    sign_in(page, "pictured")
    page.get_by_label("Name").first.fill("Mary Shelley")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Account: Mary Shelley")).to_be_visible()
    page.get_by_label("Picture").set_input_files(
        {"name": "me.png", "mimeType": "image/png", "buffer": PNG}
    )
    page.get_by_role("button", name="Save picture").click()
    portrait = page.get_by_role("img", name="Your picture")
    expect(portrait).to_have_js_property("complete", True)
    assert portrait.evaluate("image => image.naturalWidth") > 0
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert barriers(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert problems == []


@pytest.mark.slow("uses several pages in a browser")
def test_settings_are_saved_by_a_button_without_scripts(site: Site, browser: Browser, host: str):
    site.shell(PREPARE, name="plain", password=PASSWORD)
    context = browser.new_context(base_url=host, java_script_enabled=False)
    page = context.new_page()
    sign_in(page, "plain")
    profile = page.get_by_role("region", name="Profile")
    page.get_by_label("Name").first.fill("Mary Shelley")
    profile.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("Saved.")
    expect(page.get_by_label("Name").first).to_have_value("Mary Shelley")
    page.get_by_label("Time zone").select_option("Europe/Riga")
    page.get_by_label("Quiet hours start").fill("22:00")
    page.get_by_role("region", name="Notifications").get_by_role("button", name="Save").click()
    expect(page.get_by_text("Enter both a start and an end time")).to_be_visible()
    expect(page.get_by_label("Time zone")).to_have_value("Europe/Riga")
    context.close()
    with_scripts = browser.new_context(base_url=host)
    page = with_scripts.new_page()
    sign_in(page, "plain")
    expect(page.get_by_label("Name").first).to_have_value("Mary Shelley")
    expect(page.get_by_role("button", name="Save", exact=True)).to_have_count(0)
    with_scripts.close()


@pytest.mark.slow("uses several pages in a browser")
def test_settings_are_saved_on_change_and_errors_are_at_their_fields(
    site: Site, browsers: list[BrowserContext]
):
    site.shell(PREPARE, name="changing", password=PASSWORD)
    page, problems = opened(browsers[0])
    sign_in(page, "changing")
    start = page.get_by_label("Quiet hours start")
    start.fill("22:00")
    start.blur()
    error = page.locator(".field-error")
    expect(error).to_have_text("Enter both a start and an end time, or leave both empty.")
    expect(start).to_have_value("22:00")
    expect(start).to_have_attribute("aria-invalid", "true")
    assert barriers(page) == []
    start.fill("")
    start.blur()
    expect(error).to_have_count(0)
    pick(page, "Time zone", "Europe/Riga")
    expect(page.locator(".toast")).to_contain_text("Saved.")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    zone = page.get_by_role("button", name="Time zone:")
    expect(zone).to_have_text("UTC")
    pick(page, "Time zone", "Europe/Riga")
    start.fill("22:00")
    page.get_by_label("Quiet hours end").fill("07:00")
    page.goto("/settings/")  # the page is left at once
    page.get_by_role("textbox", name="Custom instructions").fill("Be brief.")
    page.goto("/account/")
    expect(zone).to_have_text("Europe/Riga")
    expect(page.get_by_label("Quiet hours start")).to_have_value("22:00")
    expect(page.get_by_label("Quiet hours end")).to_have_value("07:00")
    page.goto("/settings/")
    expect(page.get_by_role("textbox", name="Custom instructions")).to_have_value("Be brief.")
    problems = [one for one in problems if "400" not in one]
    assert problems == []
