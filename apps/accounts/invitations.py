"""Invitations: links with which one person each signs up."""

from django.contrib.auth.models import User
from django.utils import timezone

from apps.accounts.models import Invitation
from apps.accounts.tokens import hash_of

SESSION_KEY = "invitation"
"""Holds the token of the link that a visitor followed."""


class UsedUp(Exception):
    """The invitation was used or has expired while its form was filled in."""


def find(token: str | None) -> Invitation | None:
    """The invitation of a token, if it can still be used."""
    if not token:
        return None
    usable = Invitation.objects.filter(used_at=None, expires_at__gt=timezone.now())
    return usable.filter(token_hash=hash_of(token)).first()


def use(invitation: Invitation, user: User) -> None:
    """Give the account what it was invited to. Raises `UsedUp`; call it in a transaction."""
    now = timezone.now()
    usable = Invitation.objects.filter(pk=invitation.pk, used_at=None, expires_at__gt=now)
    if not usable.update(used_at=now, used_by=user):
        raise UsedUp
    user.groups.add(*invitation.groups.all())
