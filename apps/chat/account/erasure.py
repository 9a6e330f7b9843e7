"""Writes the erasure report for a deleted account: the numbers of deleted, retained and remaining
rows of each kind.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from allauth.idp.oidc.models import Token
from allauth.mfa.models import Authenticator
from django.contrib.admin.models import LogEntry
from django.db.models import QuerySet, Sum
from django.utils import timezone

from apps.accounts.caller import of_person
from apps.accounts.erasure_reports import request_erasure
from apps.accounts.models import ErasureReport, Picture, ServiceAccount, SignUp
from apps.catalog.history.models import Change
from apps.catalog.models import Application, OperatorKey
from apps.chat.exports.account import rows_of
from apps.conversations.access import owned_by
from apps.conversations.models import Conversation, Message
from apps.insights.budgets.models import Budget
from apps.live.models import Run, RunSummary
from apps.notes.models import NoteVersion
from apps.triggers.models import MailNotice, Subscription
from apps.workspace.local.models import CorpusDocument, FormerBucket, MemoryCollection, StoredFile

BYTES = "bytes_of_files"


@dataclass(frozen=True, slots=True)
class RetainedRows:
    """Rows that remain after an account is deleted, and the reason that the report shows."""

    rows: QuerySet[Any] | None
    """The rows, or None if their table is large and has no index on the user."""
    reason: str

    def count(self) -> int | None:
        return None if self.rows is None else self.rows.count()


def removed_rows(user: int) -> Mapping[str, QuerySet[Any]]:
    """Return the rows that will be deleted with an account, by kind."""
    conversations = Conversation.objects.filter(owned_by(user))
    exported = rows_of(user).items()
    return {
        **{name: one.model._default_manager.filter(one.condition) for name, one in exported},
        "tokens_of_programs": Token.objects.filter(user=user),
        "second_factors": Authenticator.objects.filter(user=user),
        "sign_ups": SignUp.objects.filter(user=user),
        "service_accounts": ServiceAccount.objects.filter(user=user),
        "operator_keys": OperatorKey.objects.filter(user=user),
        "budgets": Budget.objects.filter(user=user),
        "subscriptions": Subscription.objects.filter(owner=user),
        "unsent_mail": MailNotice.objects.filter(user=user),
        "entries_of_the_admin_log": LogEntry.objects.filter(user=user),
        "collections_of_memories": MemoryCollection.objects.filter(of_person(user)),
        "indexed_files": CorpusDocument.objects.filter(of_person(user)),
        "pictures": Picture.objects.filter(user=user),
        "former_visitors": FormerBucket.objects.filter(of_person(user)),
        "files": StoredFile.objects.filter(of_person(user)),
        "versions_of_notes": NoteVersion.objects.filter(of_person(user, "note__owner")),
        "conversations": conversations,
        "messages": Message.objects.filter(conversation__in=conversations),
        "answers": Run.objects.filter(stream__in=conversations.values("pk")),
    }


def retained_rows(user: int) -> Mapping[str, RetainedRows]:
    return {
        "applications": RetainedRows(
            Application.objects.filter(owner=user), "They are retained without an owner."
        ),
        "changes_of_definitions": RetainedRows(
            Change.objects.filter(user=user), "The history of definitions, for AUDIT_DAYS."
        ),
        "rows_of_runs": RetainedRows(
            RunSummary.objects.filter(of_person(user)),
            "Numbers without texts, for RUN_ROWS_DAYS.",
        ),
        "audit_events": RetainedRows(None, "The audit log without texts, for AUDIT_DAYS."),
        "calls_of_models_and_tools": RetainedRows(None, "Usage without texts, for USAGE_DAYS."),
        "sums_of_usage": RetainedRows(None, "Sums of usage without texts."),
    }


def counts(user: int) -> dict[str, int]:
    """Return the number of rows of each kind in `removed_rows`, and the total size of the user's
    files in bytes. Zeros are omitted.
    """
    found = {name: rows.count() for name, rows in removed_rows(user).items()}
    stored = StoredFile.objects.filter(of_person(user)).aggregate(bytes=Sum("size"))["bytes"]
    return {name: count for name, count in {**found, BYTES: stored or 0}.items() if count}


def begin_report(user: int, requested_by: str = "") -> ErasureReport:
    """Create the erasure report with the account's row counts before the deletion. If a report with
    counts exists, return it unchanged.
    """
    report = request_erasure(user, requested_by)
    if not report.removed:
        report.removed = counts(user)
        report.retained = {
            name: {"count": count, "reason": one.reason}
            for name, one in retained_rows(user).items()
            if (count := one.count()) != 0
        }
        report.save()
    return report


def finish_report(user: int) -> None:
    """Count the rows that remain after the deletion, and complete the account's open report."""
    rows = ErasureReport.objects.filter(account=user, finished_at=None)
    rows.update(finished_at=timezone.now(), remaining=counts(user))
