"""Finds and redeems invitations."""

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import Invitation
from apps.accounts.secret_tokens import hash_of

SESSION_KEY = "invitation"
"""The session key that stores the token from an opened invitation link."""


class UsedUp(Exception):
    """Raised if an invitation was used or expired while its sign-up form was being filled in."""


def usable() -> QuerySet[Invitation]:
    """Return the invitations that can be used. Their creators must have active accounts."""
    rows = Invitation.objects.filter(used_at=None, expires_at__gt=timezone.now())
    return rows.filter(created_by__is_active=True)


def find(token: str | None) -> Invitation | None:
    """Return the invitation with this token, or None if there is no usable invitation."""
    return usable().filter(token_hash=hash_of(token)).first() if token else None


def use(invitation: Invitation, user: User) -> None:
    """Mark the invitation as used by the new user, and add the user to its groups. Raises `UsedUp`
    if the invitation can no longer be used. Must be called in a transaction.
    """
    if not usable().filter(pk=invitation.pk).update(used_at=timezone.now(), used_by=user):
        raise UsedUp
    user.groups.add(*invitation.groups.all())
