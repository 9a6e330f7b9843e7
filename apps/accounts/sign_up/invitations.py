"""Creates and checks invitations. Each invitation is a link with which one user can sign up."""

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import Invitation
from apps.accounts.secret_tokens import hash_of

SESSION_KEY = "invitation"
"""The session key of the token in the link that a visitor followed."""


class UsedUp(Exception):
    """Raised if the invitation was used or expired while its form was being filled in."""


def usable() -> QuerySet[Invitation]:
    """Return the open invitations, except invitations from a closed or deleted account."""
    rows = Invitation.objects.filter(used_at=None, expires_at__gt=timezone.now())
    return rows.filter(created_by__is_active=True)


def find(token: str | None) -> Invitation | None:
    """Return the invitation for a token, or None if it cannot be used."""
    return usable().filter(token_hash=hash_of(token)).first() if token else None


def use(invitation: Invitation, user: User) -> None:
    """Assign the invitation's roles and teams to the account. Raises `UsedUp` if the invitation is
    no longer valid. Must be called in a transaction.
    """
    if not usable().filter(pk=invitation.pk).update(used_at=timezone.now(), used_by=user):
        raise UsedUp
    user.groups.add(*invitation.groups.all())
