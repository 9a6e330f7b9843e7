"""Invitations: links with which one person each signs up."""

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import Invitation
from apps.accounts.tokens import hash_of

SESSION_KEY = "invitation"
"""Holds the token of the link that a visitor followed."""


class UsedUp(Exception):
    """The invitation was used or has expired while its form was filled in."""


def usable() -> QuerySet[Invitation]:
    """Those of somebody whose account is closed or deleted let nobody in any more."""
    rows = Invitation.objects.filter(used_at=None, expires_at__gt=timezone.now())
    return rows.filter(created_by__is_active=True)


def find(token: str | None) -> Invitation | None:
    """The invitation of a token, if it can still be used."""
    return usable().filter(token_hash=hash_of(token)).first() if token else None


def use(invitation: Invitation, user: User) -> None:
    """Give the account what it was invited to. Raises `UsedUp`; call it in a transaction."""
    if not usable().filter(pk=invitation.pk).update(used_at=timezone.now(), used_by=user):
        raise UsedUp
    user.groups.add(*invitation.groups.all())
