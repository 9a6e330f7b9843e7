from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.catalog.rows import make_application, make_deployment
from tests.console.pages import browser_of, signed_in

pytestmark = pytest.mark.django_db

EDITOR = "/dial/editor/?id=travel"
CHAT = "https://chat.example.org"


@pytest.fixture
def operator() -> Client:
    make_deployment("demo-model")
    make_application("travel")
    return signed_in()


@pytest.fixture
def chat(settings: Any) -> str:
    """Serve a host whose pages may frame the editor."""
    own = {**settings.CONTENT_SECURITY_POLICIES["dial-editor"], "frame-ancestors": [CHAT]}
    settings.CONTENT_SECURITY_POLICIES = {**settings.CONTENT_SECURITY_POLICIES, "dial-editor": own}
    settings.ALLOWED_FRAME_ANCESTORS = settings.ALLOWED_ORIGIN = [CHAT]
    return CHAT


def framers(client: Client, path: str) -> Sequence[str | None]:
    answer = client.get(path)
    policy = answer["Content-Security-Policy"].split("; ")
    found = next(part for part in policy if part.startswith("frame-ancestors"))
    return found.partition(" ")[2], answer.headers.get("X-Frame-Options")


def test_the_editor_alone_can_be_framed_and_by_the_chat_alone(operator, chat):
    assert framers(operator, EDITOR) == (chat, None)
    for path in ("/admin/", "/accounts/login/", "/api/schema/", "/"):
        assert framers(operator, path) == ("'none'", "DENY")


def test_nobody_frames_the_editor_unless_an_administrator_says_who(operator):
    assert framers(operator, EDITOR) == ("'none'", "DENY")


def test_the_page_tells_its_script_whom_to_talk_to(operator, chat):
    page = operator.get(f"{EDITOR}&applicationName=My%20%22Type%22").text

    assert f'<script id="origins" type="application/json">["{chat}"]</script>' in page
    assert 'data-name="My &quot;Type&quot;"' in page


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("dark", '<html lang="en" data-theme="dark" class="dark">'),
        ("oled-dark", '<html lang="en" data-theme="dark" class="dark">'),
        ("light", '<html lang="en" data-theme="light">'),
        ("corporate", '<html lang="en">'),
        ("", '<html lang="en">'),
    ],
)
def test_the_theme_of_the_chat_is_taken_up(operator, asked, shown):
    page = operator.get(f"{EDITOR}&theme={asked}").text

    assert shown in page


@pytest.mark.parametrize("is_known", [True, False])
def test_who_is_no_operator_is_asked_to_sign_in(is_known):
    client = browser_of(User.objects.create_user("guest")) if is_known else Client()

    shown = client.get(EDITOR)
    saved = client.post(EDITOR, {"manifest": "{}", "seen_version": "1"})

    assert 'data-state="signed-out"' in shown.text
    assert (saved.status_code, saved.json()["signed_out"]) == (401, True)
    assert client.post("/dial/editor/check/", {"manifest": "{}"}).status_code == 403


def test_the_window_for_signing_in_says_whether_it_helped(operator):
    guest = browser_of(User.objects.create_user("guest"))
    address = "/dial/editor/signed-in/"

    assert "You are signed in" in operator.get(address).text
    assert "This account cannot edit applications" in guest.get(address).text


def test_a_save_without_the_token_of_the_page_is_refused(operator):
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = operator.cookies

    answer = strict.post(EDITOR, {"manifest": "{}", "seen_version": "1"})

    assert answer.status_code == 403
