from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from apps.accounts.caller import ClientInfo
from apps.catalog.models import Application, Grant, Role, Widget
from apps.chat.widget.consumer import check_files
from apps.chat.widget.tokens import caller_of, check_token, read_token
from apps.conversations.ask import SentFile
from apps.conversations.models import Conversation, Message
from apps.errors import NotAdmitted, Refused
from apps.feedback.models import Feedback
from apps.workspace.local.files import files
from tests.catalog.rows import make_application
from tests.chat.widget.widgets import SHOP, add_widget, ask_token

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]
OURS = "http://testserver"


@pytest.fixture
def widget(grace: User) -> Widget:
    found = add_widget(is_public=False, is_shared=False)
    Grant.objects.create(application=found.application, user=grace, role=Role.USER)
    return found


def address_of(widget: Widget) -> str:
    return f"/widget/{widget.application.slug}/sign-in/"


def code_of(browser: Client, widget: Widget) -> str:
    page = browser.post(address_of(widget)).text
    [code] = re.findall(r'data-code="([^"]+)"', page)
    return str(code)


def is_valid(told: dict[str, Any], widget: Widget) -> bool:
    try:
        check_token(read_token(told["token"]), widget.application.slug, SHOP, OURS)
    except NotAdmitted:
        return False
    return True


def test_a_user_of_this_site_gets_a_token_for_the_widget_alone(
    grace: User, browser: Client, widget: Widget
):
    page = browser.get(address_of(widget))
    code = code_of(browser, widget)

    answer = ask_token(widget, code=code)

    assert "The chat will use your account, grace." in page.text
    assert page.headers["Cross-Origin-Opener-Policy"] == "unsafe-none"
    assert answer.status_code == 200
    assert answer.json()["visitor"] == f"user-{grace.pk}"
    assert is_valid(answer.json(), widget)
    assert not is_valid(answer.json(), add_widget())


def test_a_code_is_used_once_and_for_its_widget(browser: Client, widget: Widget):
    code = code_of(browser, widget)
    elsewhere = ask_token(add_widget(), code=code)
    first, again = ask_token(widget, code=code), ask_token(widget, code=code)
    forged = ask_token(widget, code=f"{code}A")

    answers = [elsewhere, first, again, forged]
    assert [one.status_code for one in answers] == [401, 200, 401, 401]


def test_a_token_of_an_account_ends_with_its_session_and_with_its_access(
    grace: User, browser: Client, widget: Widget
):
    first, second = (ask_token(widget, code=code_of(browser, widget)).json() for _ in range(2))
    grant = Grant.objects.get()
    grant.delete()
    without_access = is_valid(first, widget)
    grant.save()
    with_access = is_valid(second, widget)
    browser.logout()

    assert (without_access, with_access) == (False, True)
    assert not is_valid(second, widget)


def test_others_are_asked_to_sign_in_or_cannot_use_the_application(widget: Widget):
    stranger, other = Client(), Client()
    other.force_login(User.objects.create_user("ada"))

    signed_out = stranger.get(address_of(widget)).text
    refused = other.post(address_of(widget)).text

    assert f"/accounts/login/?next={address_of(widget)}%3Fdone" in signed_out
    assert "You can’t use this app with your account." in refused
    assert "data-code" not in signed_out + refused + stranger.post(address_of(widget)).text


def converse(user: User, application: Application, **message: Any) -> Message:
    conversation = Conversation.objects.create(owner=f"user-{user.pk}", application=application)
    role = Message.Role.ASSISTANT
    return Message.objects.create(conversation=conversation, role=role, text="Hi", **message)


def keep_file(user: User, name: str) -> str:
    return files.keep(f"user-{user.pk}", name, b"Hi", "text/plain").path


def told_with_account(browser: Client, widget: Widget) -> dict[str, Any]:
    found: dict[str, Any] = ask_token(widget, code=code_of(browser, widget)).json()
    return found


def test_the_frame_of_an_account_reads_only_files_of_its_application(
    grace: User, browser: Client, widget: Widget
):
    here = converse(grace, widget.application)
    elsewhere = converse(grace, make_application("other"))
    names = {
        "here": f"conversations/{here.conversation_id}/a.txt",
        "unsent": f"conversations/{uuid4()}/a.txt",
        "elsewhere": f"conversations/{elsewhere.conversation_id}/a.txt",
        "attached": f"conversations/{elsewhere.conversation_id}/b c.txt",
        "prefix of an attached file": f"conversations/{elsewhere.conversation_id}/b c",
        "upload": "report.txt",
    }
    paths = {key: keep_file(grace, name) for key, name in names.items()}
    here.attachments = [{"url": paths["attached"]}]
    here.save()
    told = told_with_account(browser, widget)
    caller = caller_of(read_token(told["token"]), ClientInfo())

    def may_send(path: str) -> bool:
        try:
            check_files(caller, [SentFile(url=path)])
        except Refused:
            return False
        return True

    shown = {
        key: Client().get(f"{told['files']}/{path}").status_code for key, path in paths.items()
    }
    sent = {key for key, path in paths.items() if may_send(path)}

    readable = {"here", "unsent", "attached"}
    assert shown == {key: 200 if key in readable else 404 for key in paths}
    assert sent == readable
    headers = {"authorization": f"Bearer {told['token']}"}
    base = f"/widget/{widget.application.slug}"
    statuses = {
        key: Client().delete(f"{base}/{path}", headers=headers).status_code
        for key, path in paths.items()
    }
    assert statuses == {key: 204 if key in readable else 404 for key in paths}


def test_the_frame_of_an_account_rates_only_answers_of_its_application(
    grace: User, browser: Client, widget: Widget
):
    here, elsewhere = (
        converse(grace, one).uuid for one in (widget.application, make_application("other"))
    )
    browser.post(f"/messages/{elsewhere}/feedback/", {"rating": "up"})
    assert Feedback.objects.count() == 1
    headers = {"authorization": f"Bearer {told_with_account(browser, widget)['token']}"}
    base = f"/widget/{widget.application.slug}"

    rated = {
        one: Client().post(f"{base}/messages/{one}/feedback/", {"rating": "down"}, headers=headers)
        for one in (here, elsewhere)
    }
    query = f"?message={here}&message={elsewhere}"
    found = Client().get(f"{base}/feedback/{query}", headers=headers).json()["feedback"]
    Client().delete(f"{base}/messages/{elsewhere}/feedback/", headers=headers)

    assert {one: answer.status_code for one, answer in rated.items()} == {here: 200, elsewhere: 404}
    assert {one: row["rating"] for one, row in found.items()} == {str(here): "down"}
    assert set(Feedback.objects.values_list("message", flat=True)) == {here, elsewhere}
