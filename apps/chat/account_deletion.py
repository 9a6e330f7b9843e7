"""A person deletes all of their conversations, or their account with all that is theirs."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.accounts.buckets import of_person
from apps.accounts.caller import Caller
from apps.catalog.models import Application
from apps.chat.access import owned_by
from apps.chat.arrangement import UNDO, erase
from apps.chat.models import Conversation, Folder, PinnedApplication
from apps.errors import Refused
from apps.live.models import Consent
from apps.schedules.models import Schedule
from apps.workspace.local import files
from apps.workspace.local.models import FormerBucket, StoredFile


@dataclass(frozen=True, slots=True)
class Belongings:
    """How much a person has, in all of their teams."""

    conversations: int
    files: int
    schedules: int
    applications: int
    """Those that they own, which stay."""


def belongings_of(user: int) -> Belongings:
    return Belongings(
        Conversation.objects.kept().filter(owned_by(user)).count(),
        StoredFile.objects.filter(of_person(user)).count(),
        Schedule.objects.filter(owned_by(user)).count(),
        Application.objects.filter(owner=user).count(),
    )


def delete_conversations(caller: Caller, user: int) -> int:
    """Erase all conversations of a person, in all of their teams; how many. Nothing brings them back."""
    gone = timezone.now() - UNDO - timedelta(seconds=1)
    mine = Conversation.objects.filter(owned_by(user))
    # Hidden first, all at once; should the process end meanwhile, housekeeping goes on with the rest.
    rows = list(mine.kept().values_list("pk", "application__slug", "former_slug"))
    mine.kept().update(deleted_at=gone, arranged_at=timezone.now())
    for pk, slug, former in rows:
        audit.record(
            AuditEvent("conversation.deleted", caller.bucket, caller.address, slug or former, pk)
        )
    erase(mine.filter(deleted_at__lte=gone))
    return len(rows)


def check_deletable(user: User) -> None:
    """Raises `Refused` for the only one left who may do everything here."""
    others = get_user_model().objects.filter(is_superuser=True, is_active=True)
    if user.is_superuser and not others.exclude(pk=user.pk).exists():
        raise Refused(
            "last_superuser",
            gettext(
                "You are the only superuser. Make somebody else one first: without one, nobody could see "
                "to this installation."
            ),
        )


def delete_account(caller: Caller, user: User) -> None:
    """Erase an account and all that is its own. Raises `Refused`.

    What stays are figures of usage, the audit and the history of what operators changed, by ids, and
    applications of theirs, which then have no owner.
    """
    with transaction.atomic():
        # All of them are locked, so that two cannot leave each other at once.
        superusers = get_user_model().objects.filter(is_superuser=True, is_active=True)
        list(superusers.select_for_update().order_by("pk"))
        check_deletable(user)
        get_user_model().objects.filter(pk=user.pk).update(is_active=False)
    delete_conversations(caller, user.pk)
    get_user_model().objects.filter(pk=user.pk).delete()


def erase_belongings(sender: Any, instance: User, **told: Any) -> None:
    """Receives Django's signal when an account is deleted, by its person or by an operator."""
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
