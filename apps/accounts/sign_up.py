"""How people get accounts by themselves, as the setting SIGN_UP allows, and what they wait for."""

from datetime import timedelta

from allauth.account import app_settings
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from apps.accounts import invitations
from apps.accounts.models import Invitation, SignUp


def is_open(invitation: Invitation | None) -> bool:
    """Whether somebody with this invitation, or without one, may sign up."""
    if settings.SIGN_UP == "closed":
        return False
    return invitation is not None or settings.SIGN_UP in ("approval", "open")


def needs_approval(invitation: Invitation | None) -> bool:
    return invitation is None and settings.SIGN_UP == "approval"


def admit(user: User, invitation: Invitation | None, *, is_confirmed: bool) -> None:
    """Let a new account in, or have it wait. Raises `invitations.UsedUp`; call it in a transaction.

    `is_confirmed`: whether the address is known to be the person's.
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
    """The address of an account is its person's. Gives what the account still waits for, if anything."""
    return settle(user, "needs_confirmation")


@transaction.atomic
def approve(user: User) -> SignUp | None:
    """An administrator lets the account in. Gives what it still waits for, if anything."""
    return settle(user, "needs_approval")


def settle(user: User, need: str) -> SignUp | None:
    # Locked: whoever confirms and whoever approves at the same time must not both find the other's need.
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
    """Delete accounts whose address was not confirmed in time; gives how many there were."""
    limit = timezone.now() - timedelta(days=app_settings.EMAIL_CONFIRMATION_EXPIRE_DAYS)
    late = SignUp.objects.filter(needs_confirmation=True, created_at__lt=limit)
    gone = User.objects.filter(sign_up__in=late, is_active=False)
    return len([user.delete() for user in gone])
