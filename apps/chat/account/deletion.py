"""Deletes a user's conversations, or the account with all its data."""

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone
from django.utils.translation import gettext

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.accounts.caller import Caller, bucket_of, of_person
from apps.accounts.legal_holds import refusal
from apps.accounts.models import ErasureReport, LegalHold
from apps.accounts.permissions import is_last_superuser
from apps.catalog.models import Application
from apps.chat.account.erasure import begin_report, finish_report
from apps.chat.models import PinnedApplication
from apps.conversations.access import owned_by
from apps.conversations.keeping.arrangement import UNDO, erase, hide_held
from apps.conversations.models import Conversation, Folder
from apps.errors import Refused
from apps.live.models import Consent
from apps.schedules.models import Schedule
from apps.workspace.local.files import files
from apps.workspace.local.models import FormerBucket, StoredFile


@dataclass(frozen=True, slots=True)
class Belongings:
    """The numbers of a user's conversations, files, schedules and applications in all teams."""

    conversations: int
    files: int
    schedules: int
    applications: int
    """The number of applications that the user owns. They are not deleted with the account."""


def belongings_of(user: int) -> Belongings:
    return Belongings(
        Conversation.objects.undeleted().filter(owned_by(user)).count(),
        StoredFile.objects.filter(of_person(user)).count(),
        Schedule.objects.filter(owned_by(user)).count(),
        Application.objects.filter(owner=user).count(),
    )


def delete_conversations(caller: Caller, user: int) -> int:
    """Delete the user's conversations in all teams, and return their number. Conversations under a
    legal hold are hidden until the hold is lifted.
    """
    gone = timezone.now() - UNDO - timedelta(seconds=1)
    mine = Conversation.objects.filter(owned_by(user))
    # First hide all conversations. If the process ends before `erase`, housekeeping deletes them.
    rows = list(mine.undeleted().values_list("pk", "application__slug", "former_slug"))
    hide_held(mine)
    mine.undeleted().update(deleted_at=gone, arranged_at=timezone.now())
    for pk, slug, former in rows:
        audit.record(
            AuditEvent(
                "conversation.deleted", caller.bucket, caller.client.address, slug or former, pk
            )
        )
    erase(mine.filter(deleted_at__lte=gone))
    return len(rows)


def check_deletable(user: User, *, locks: bool = False) -> None:
    """Raise `Refused` if the user is under a legal hold or is the only superuser. With `locks`, the
    superusers' rows remain locked until the transaction ends.
    """
    if LegalHold.objects.active().filter(user=user).exists():
        raise Refused("legal_hold", refusal())
    if is_last_superuser([user.pk], locks=locks):
        raise Refused(
            "last_superuser",
            gettext(
                "You are the only superuser. Make another user a superuser first, so that someone can still administer this installation."
            ),
        )


def delete_account(caller: Caller, user: User) -> ErasureReport:
    """Permanently delete an account with its data. Return a report with the numbers of deleted and
    retained rows.

    Usage metrics, audit events and the change history are retained, with the user's ID only. The
    user's applications are retained without an owner. Raises `Refused` if `check_deletable` does.
    """
    with transaction.atomic():
        # Locked, so that no legal hold can be placed before the account is inactive.
        row = get_user_model().objects.select_for_update().filter(pk=user.pk)
        list(row)
        check_deletable(user, locks=True)
        report = begin_report(user.pk, caller.bucket)
        row.update(is_active=False)
    delete_conversations(caller, user.pk)
    try:
        get_user_model().objects.filter(pk=user.pk).delete()
    except ProtectedError:  # A hold was placed in the meantime.
        raise Refused("legal_hold", refusal()) from None
    return report


def report_deletion(sender: Any, instance: User, **told: Any) -> None:
    """On Django's `pre_delete` signal, count the account's rows for the erasure report, and write
    an audit event.
    """
    report = begin_report(instance.pk)
    audit.record(AuditEvent("account.erased", report.requested_by, subject=bucket_of(instance.pk)))


def erase_belongings(sender: Any, instance: User, **told: Any) -> None:
    """On Django's `post_delete` signal, delete the user's rows and files that have no foreign key
    to the account.
    """
    user = instance.pk
    erase(Conversation.objects.filter(owned_by(user)))
    Folder.objects.filter(owned_by(user)).delete()
    PinnedApplication.objects.filter(owned_by(user)).delete()
    Schedule.objects.filter(owned_by(user)).delete()
    Consent.objects.filter(of_person(user)).delete()
    FormerBucket.objects.filter(of_person(user)).delete()
    stored = StoredFile.objects.filter(of_person(user))
    for bucket in set(stored.values_list("bucket", flat=True)):
        files.delete_below(bucket, "")
    transaction.on_commit(partial(finish_report, user))
