"""Defines the database models for sign-ups, invitations and the first administrator's setup."""

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.utils import timezone
from django.utils.formats import date_format

from apps.datetime_fields import BoundedDateTimeField


class SignUp(models.Model):
    """An incomplete sign-up. The account is inactive until this row is deleted."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_up"
    )
    needs_confirmation = models.BooleanField(
        help_text="True until the user opens the link in the email."
    )
    needs_approval = models.BooleanField(
        help_text="True until an administrator approves the account."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "sign-up"
        default_permissions = ("change", "delete", "view")
        ordering = ("created_at",)

    def __str__(self) -> str:
        return self.user.get_username()


def in_a_week() -> datetime:
    return timezone.now() + timedelta(days=7)


class Invitation(models.Model):
    """An invitation for one sign-up. The row contains only a hash of the link's token."""

    email = models.EmailField(
        "email address",
        blank=True,
        help_text=(
            "The account's email address. If the server can send email, the invitation link "
            "is sent to this address and is not shown."
        ),
    )
    groups = models.ManyToManyField(
        Group, blank=True, help_text="The initial roles and teams of the account."
    )
    expires_at = BoundedDateTimeField("expires", default=in_a_week)
    token_hash = models.CharField(max_length=64, unique=True, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    is_sent = models.BooleanField(
        "sent",
        default=False,
        editable=False,
        help_text="True if the link was emailed to the account's address.",
    )
    used_by = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="invitation",
    )
    used_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return self.email or f"Invitation {self.pk}"


class SetupToken(models.Model):
    """The hash of a setup token, with which a visitor can create the first administrator."""

    token_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"Of {date_format(self.created_at, 'DATETIME_FORMAT')}"
