"""The confirmation of a deletion shows who uses the object, and never texts of users."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client

from apps.catalog.actions import archive
from apps.catalog.content.installed import expire_content
from apps.catalog.models import Application, ContentItem
from apps.conversations.models import Conversation, Message
from apps.workspace.local.models import StoredFile
from tests.catalog.rows import make_application, make_deployment, manifest_with
from tests.console.pages import staff, words

APPLICATIONS = "/admin/catalog/application/"
DEPLOYMENTS = "/admin/workspace/deployment/"
WORDS = "my-private-words"

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def confirm_many(client: Client, address: str, *numbers: int) -> Any:
    return client.post(address, {"action": "delete_selected", "_selected_action": numbers})


def add_conversation(application: Application, owner: str) -> None:
    conversation = Conversation.objects.create(
        application=application, owner=owner, title=f"{WORDS} in a title"
    )
    Message.objects.create(conversation=conversation, role="user", text=f"{WORDS} in a message")


# --- Words of people --------------------------------------------------------------------------


def test_before_an_application_goes_its_conversations_are_counted_and_not_shown(admin_client):
    application, other = make_application("travel"), make_application("weather")
    for owner in ("user-1", "user-1", "session-2"):
        add_conversation(application, owner)
    for row in (application, other):
        archive.execute(row)

    one = admin_client.get(f"{APPLICATIONS}{application.pk}/delete/")
    many = confirm_many(admin_client, APPLICATIONS, application.pk, other.pk)
    without = admin_client.get(f"{APPLICATIONS}{other.pk}/delete/")

    for page in map(words, (one, many)):
        assert "3 conversations of 2 people will be retained." in page
        assert WORDS not in page
    assert "This conversation will be saved" not in words(without)


def test_no_page_of_the_admin_has_words_of_people(admin_client):
    anna = User.objects.create_user("anna")
    application = make_application("travel", owner=anna)
    add_conversation(application, f"user-{anna.pk}")
    StoredFile.objects.create(
        bucket=f"user-{anna.pk}", name=f"{WORDS}.txt", storage_name="x", size=1
    )
    admin_client.post(APPLICATIONS, {"action": "disable", "_selected_action": application.pk})
    pages = [
        "/admin/",
        APPLICATIONS,
        f"{APPLICATIONS}{application.pk}/studio/",
        f"{APPLICATIONS}{application.pk}/versions/",
        f"{APPLICATIONS}{application.pk}/history/",
        f"{APPLICATIONS}deleted/",
        "/admin/auth/user/",
        f"/admin/auth/user/{anna.pk}/change/",
        f"/admin/auth/user/{anna.pk}/delete/",
        f"/admin/auth/user/{anna.pk}/history/",
        "/admin/accounts/apikey/",
        "/admin/catalog/operatorkey/",
        "/admin/workspace/sharedfile/",
        "/admin/workspace/mcpserver/sessions/",
    ]

    found = [page for page in pages if WORDS in admin_client.get(page).text]
    archive.execute(application)
    admin_client.post(f"{APPLICATIONS}{application.pk}/delete/", {"post": "yes"})
    assert Conversation.objects.count() == 1
    admin_client.post(f"/admin/auth/user/{anna.pk}/delete/", {"post": "yes"})
    found += [
        page
        for page in ("/admin/", f"{APPLICATIONS}deleted/")
        if WORDS in words(admin_client.get(page))
    ]

    assert found == []
    assert [str(entry) for entry in LogEntry.objects.all() if WORDS in str(entry)] == []


def test_before_an_account_goes_it_is_said_what_goes_with_it(admin_client):
    anna = User.objects.create_user("anna")
    add_conversation(make_application("travel"), f"user-{anna.pk}")

    one = admin_client.get(f"/admin/auth/user/{anna.pk}/delete/")
    many = confirm_many(admin_client, "/admin/auth/user/", anna.pk)

    for page in map(words, (one, many)):
        assert (
            "Deleting an account permanently deletes its conversations, files, folders, schedules, "
            "memories, keys and connections."
        ) in page
        assert WORDS not in page
    admin_client.post(f"/admin/auth/user/{anna.pk}/delete/", {"post": "yes"})
    assert Conversation.objects.count() == 0


def test_a_row_of_peoples_words_is_called_by_its_number():
    add_conversation(make_application(), "user-1")

    names = [str(Conversation.objects.get()), str(Message.objects.get())]

    assert [name for name in names if WORDS in name] == []


# --- Deployments ------------------------------------------------------------------------------


def uses() -> None:
    """Return each way to use the deployment `gpt`, and one application that uses another one."""
    model = {"orchestrator": {"deployment": {"deployment_id": "gpt"}}}
    old = {"orchestrator": {"deployment": {"name": "gpt"}}}
    tool = {"type": "dial-deployment-simple", "deployment_id": "gpt"}
    tools = [{"type": "dial-deployment", "name": "models", "tools": [tool]}]
    make_application("model", title="Model", manifest=manifest_with(**model))
    make_application("old", title="Old", manifest=manifest_with(**old))
    make_application("tool", title="Tool", manifest=manifest_with(tool_sets=tools))
    general = {"general_purpose": {"deployment_id": "gpt"}}
    subagents = {"subagents": {"enabled": True, **general}}
    make_application("helpers", title="Helpers", manifest=manifest_with(features=subagents))
    make_application("other", title="Other")
    ContentItem.objects.create(
        kind="toolset",
        name="ask-gpt",
        text='{"type": "dial-deployment", "name": "ask", "tools": '
        '[{"type": "dial-deployment-simple", "deployment_id": "gpt"}]}',
    )
    expire_content()


def test_before_a_deployment_goes_everybody_who_uses_it_is_named(admin_client):
    uses()
    deployment, unused = make_deployment("gpt"), make_deployment("unused")

    answer = admin_client.get(f"{DEPLOYMENTS}{deployment.pk}/delete/")
    page, many = (
        words(answer),
        words(confirm_many(admin_client, DEPLOYMENTS, deployment.pk, unused.pk)),
    )

    for shown in (page, many):
        assert "These use gpt and can no longer call it afterwards:" in shown
        for line in (
            "application Model orchestrator.deployment.deployment_id",
            "application Old orchestrator.deployment.name",
            "application Tool tool_sets[0].tools[0].deployment_id",
            "application Helpers features.subagents.general_purpose.deployment_id",
            "toolset ask-gpt tools[0].deployment_id",
        ):
            assert line in shown
        assert "application Other" not in shown
    assert "No application or predefined item uses unused." in many
    first = Application.objects.get(slug="model")
    assert f'href="{APPLICATIONS}{first.pk}/studio/"' in answer.text


def test_a_deployment_that_is_used_can_be_deleted_all_the_same(admin_client):
    uses()
    deployment = make_deployment("gpt")

    answer = admin_client.post(f"{DEPLOYMENTS}{deployment.pk}/delete/", {"post": "yes"})

    assert (answer.status_code, type(deployment).objects.count()) == (302, 0)


def test_who_names_no_model_uses_the_default_one(admin_client, settings):
    settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID = "gpt"
    make_application("plain", title="Plain", manifest=manifest_with(orchestrator={}))
    deployment = make_deployment("gpt")

    page = words(admin_client.get(f"{DEPLOYMENTS}{deployment.pk}/delete/"))

    assert "application Plain orchestrator.deployment.deployment_id" in page


def test_what_one_may_not_see_is_counted_and_not_named():
    uses()
    deployment = make_deployment("gpt")
    client = staff("view_deployment", "delete_deployment", "view_contentitem")

    page = words(client.get(f"{DEPLOYMENTS}{deployment.pk}/delete/"))

    assert "toolset ask-gpt" in page
    assert "4 more that you cannot see" in page
    assert "Helpers" not in page


def test_what_a_manifest_says_is_text_on_the_page(admin_client):
    hostile = "<img src=x onerror=alert(1)>"
    model = {"orchestrator": {"deployment": {"deployment_id": "gpt"}}}
    make_application("model", title=hostile, manifest=manifest_with(**model))
    deployment = make_deployment("gpt")

    page = admin_client.get(f"{DEPLOYMENTS}{deployment.pk}/delete/").text

    assert hostile not in page
    assert "&lt;img src=x" in page
