"""Exports a user's account and other data, except conversations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.db.models import BinaryField, Model, Q

from apps.accounts.caller import of_person
from apps.accounts.models import ApiKey, NoticeSettings, ProgramConnection
from apps.accounts.preferences import Preferences
from apps.catalog.models import Grant
from apps.catalog.saved_prompts import SavedPrompt
from apps.chat.models import PinnedApplication
from apps.chat.shares.models import Share
from apps.conversations.models import Folder
from apps.feedback.models import Feedback
from apps.live.models import Consent
from apps.notes.models import Note
from apps.schedules.models import Schedule
from apps.workspace.local.models import (
    MemorySettings,
    PersonalKey,
    StoredFile,
    StoredMemory,
    ToolAccount,
)
from apps.workspace.local.secrets.field import SecretField


@dataclass(frozen=True, slots=True)
class ExportedRows:
    """The rows of a model that an export contains: the rows that match `condition`, without the
    columns in `hidden`. Secrets and binary columns are never exported.
    """

    model: type[Model]
    condition: Q
    hidden: frozenset[str] = frozenset()

    def read(self) -> list[dict[str, Any]]:
        names = [
            field.attname
            for field in self.model._meta.concrete_fields
            if not isinstance(field, SecretField | BinaryField) and field.name not in self.hidden
        ]
        rows = self.model._default_manager.filter(self.condition)
        return [dict(row) for row in rows.order_by("pk").values(*names)]


def rows_of(user: int) -> Mapping[str, ExportedRows]:
    """Map each key of `account.json` to the rows that it contains."""
    theirs, owned = Q(user=user), of_person(user, "owner")
    return {
        "account": ExportedRows(User, Q(pk=user), frozenset({"password"})),
        "addresses": ExportedRows(EmailAddress, theirs),
        "sign_ins_elsewhere": ExportedRows(SocialAccount, theirs),
        "sessions": ExportedRows(UserSession, theirs, frozenset({"session_key", "data"})),
        "preferences": ExportedRows(Preferences, theirs),
        "notifications": ExportedRows(NoticeSettings, theirs),
        "api_keys": ExportedRows(ApiKey, theirs, frozenset({"id", "hashed_key"})),
        "connected_programs": ExportedRows(ProgramConnection, theirs),
        "keys_of_models": ExportedRows(PersonalKey, theirs),
        "grants": ExportedRows(Grant, theirs),
        "prompts": ExportedRows(SavedPrompt, theirs),
        "notes": ExportedRows(Note, owned),
        "memory_settings": ExportedRows(MemorySettings, theirs),
        "memories": ExportedRows(StoredMemory, of_person(user, "collection__bucket")),
        "schedules": ExportedRows(Schedule, owned),
        "folders": ExportedRows(Folder, owned),
        "pinned_applications": ExportedRows(PinnedApplication, owned),
        "shares": ExportedRows(Share, theirs, frozenset({"token"})),
        "feedback": ExportedRows(Feedback, of_person(user), frozenset({"note"})),
        "consents": ExportedRows(Consent, of_person(user)),
        "connections": ExportedRows(ToolAccount, of_person(user), frozenset({"state"})),
        "files": ExportedRows(
            StoredFile,
            of_person(user) & Q(hidden_at=None),
            frozenset({"storage_name", "hidden_at"}),
        ),
    }


def account_data(user: int) -> dict[str, list[dict[str, Any]]]:
    return {name: rows.read() for name, rows in rows_of(user).items()}
