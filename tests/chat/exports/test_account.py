"""Every model with data of users is exported with the account, or listed here with a reason."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User

from apps.accounts.models import ApiKey
from apps.catalog.saved_prompts import SavedPrompt
from apps.chat.exports.account import account_data, rows_of
from apps.notes.content import NoteContent
from apps.notes.store import Author, create
from apps.workspace.local.models import PersonalKey

NAMES = {"user", "owner", "bucket", "actor", "person"}
"""Fields that name the owner of a row."""
NOT_EXPORTED = {
    "accounts.AuditEntry": "belongs to the installation",
    "accounts.LegalHold": "belongs to the installation, and the user does not see it",
    "accounts.Picture": "no text; the account page shows it",
    "accounts.Program": "belongs to nobody",
    "accounts.ServiceAccount": "is no person",
    "accounts.SignUp": "deleted once the address is confirmed",
    "allauth_idp_oidc.Client": "a program, which belongs to nobody",
    "allauth_idp_oidc.Token": "a credential of an exported connection",
    "catalog.Application": "belongs to the installation, and stays without its owner",
    "catalog.Change": "belongs to the installation",
    "catalog.OperatorKey": "belongs to the installation",
    "catalog.PublishingRequest": "belongs to the installation",
    "conversations.Conversation": "has files of its own in the export",
    "insights.Budget": "belongs to the installation",
    "insights.ModelCall": "numbers that the page about usage shows",
    "insights.ToolUse": "numbers that the page about usage shows",
    "mfa.Authenticator": "a credential",
    "notes.NoteVersion": "earlier versions of exported notes",
    "runs.Run": "is part of a conversation",
    "runs.RunSummary": "numbers that the page about usage shows",
    "triggers.MailNotice": "deleted once the mail is sent",
    "triggers.Subscription": "belongs to the installation",
    "workspace.CorpusDocument": "an index of files of applications",
    "workspace.FormerBucket": "an address that a user had as a visitor",
    "workspace.MemoryCollection": "only groups exported memories",
    "workspace.SharedFile": "belongs to the installation",
}

pytestmark = pytest.mark.django_db


def test_every_model_of_a_user_is_exported_or_has_a_reason():
    ours = {
        model._meta.label
        for model in apps.get_models()
        if not model._meta.label.startswith(("admin.", "auth."))
        and any(field.name in NAMES for field in model._meta.fields)
    }
    exported = {rows.model._meta.label for rows in rows_of(1).values()}

    assert ours - exported == set(NOT_EXPORTED)


@pytest.mark.postgres
def test_an_account_is_exported_with_its_own_rows_and_without_credentials():
    grace = User.objects.create_user("grace", "grace@example.org", "a-password-for-tests")
    other = User.objects.create_user("ada")
    _, key = ApiKey.objects.create_key(name="Laptop", user=grace)
    PersonalKey.objects.create(user=grace, provider="openai", origin="https://a", key="sk-secret")
    for user in (grace, other):
        SavedPrompt.objects.create(user=user, name="mine", title=user.username, text="Text")
        create(f"user-{user.pk}", NoteContent(user.username), Author(user.pk))

    found: dict[str, list[dict[str, Any]]] = account_data(grace.pk)

    assert [row["email"] for row in found["account"]] == ["grace@example.org"]
    assert [row["name"] for row in found["api_keys"]] == ["Laptop"]
    assert [row["title"] for row in found["prompts"]] == ["grace"]
    assert [row["title"] for row in found["notes"]] == ["grace"]
    assert [row["provider"] for row in found["keys_of_models"]] == ["openai"]
    told = str(found)
    secrets = (key, grace.password, "sk-secret", ApiKey.objects.get().hashed_key)
    assert [secret for secret in secrets if secret in told] == []
