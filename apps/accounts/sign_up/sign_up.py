"""Decides who can sign up, and activates new accounts after the required confirmation and approval."""

from datetime import timedelta

from allauth.account import app_settings
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from apps.accounts.models import Invitation, SignUp
from apps.accounts.sign_up import invitations


def is_open(invitation: Invitation | None) -> bool:
    """Return True if a visitor can sign up with this invitation or, if it is None, without one."""
    if settings.SIGN_UP == "closed":
        return False
    return invitation is not None or settings.SIGN_UP in ("approval", "open")


def needs_approval(invitation: Invitation | None) -> bool:
    return invitation is None and settings.SIGN_UP == "approval"


def admit(user: User, invitation: Invitation | None, *, is_confirmed: bool) -> None:
    """Activate a new account, or record what it still requires: confirmation, approval, or both.

    `is_confirmed` is True if the email address is known to belong to the user. Raises
    `invitations.UsedUp` if the invitation can no longer be used. Call this in a transaction.
    """
    if invitation is not None:
        invitations.use(invitation, user)
    waiting = SignUp(
        user=user,
        needs_confirmation=settings.SENDS_MAIL and not is_confirmed,
        needs_approval=needs_approval(invitation),
    )
    if waiting.needs_confirmation or waiting.needs_approval:
        user.is_active = False
        user.save(update_fields=["is_active"])
        waiting.save()


@transaction.atomic
def confirm(user: User) -> SignUp | None:
    """Record that the user has confirmed the email address. Return None if the account is now
    active, or the sign-up if it still needs approval.
    """
    return settle(user, "needs_confirmation")


@transaction.atomic
def approve(user: User) -> SignUp | None:
    """Record that an administrator has approved the account. Return None if the account is now
    active, or the sign-up if its address still needs confirmation.
    """
    return settle(user, "needs_approval")


def settle(user: User, need: str) -> SignUp | None:
    # Locked, so that a concurrent confirmation or approval sees this change.
    waiting = SignUp.objects.select_for_update().filter(user=user).first()
    if waiting is None:
        return None
    setattr(waiting, need, False)
    if waiting.needs_confirmation or waiting.needs_approval:
        waiting.save(update_fields=[need])
        return waiting
    waiting.delete()
    user.is_active = True
    user.save(update_fields=["is_active"])
    return None


def delete_unconfirmed() -> int:
    """Delete accounts whose email addresses were not confirmed in time. Return the number of
    deleted accounts.
    """
    limit = timezone.now() - timedelta(days=app_settings.EMAIL_CONFIRMATION_EXPIRE_DAYS)
    late = SignUp.objects.filter(needs_confirmation=True, created_at__lt=limit)
    gone = User.objects.filter(sign_up__in=late, is_active=False, legal_holds=None)
    return len([user.delete() for user in gone])
