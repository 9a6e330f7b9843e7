"""How accounts come to be: people sign up, are invited, or make the first administrator."""

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.utils import timezone

from apps.datetime_fields import BoundedDateTimeField


class SignUp(models.Model):
    """Somebody who signed up and has to wait: the account is not active as long as this is there."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_up"
    )
    needs_confirmation = models.BooleanField(
        help_text="Whether the link in the message to the address has yet to be followed."
    )
    needs_approval = models.BooleanField(
        help_text="Whether an administrator has yet to approve the account."
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
    """Lets one person sign up, with a link of which only the hash is kept."""

    email = models.EmailField(
        "e-mail address",
        blank=True,
        help_text="Of the account. Where mail is sent, the link goes there and is not shown.",
    )
    groups = models.ManyToManyField(
        Group, blank=True, help_text="Roles and teams that the account begins with."
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
        "sent", default=False, editable=False, help_text="Whether the link went to the address."
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
    """Lets somebody make the first administrator; each process that serves has one of its own."""

    token_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"Of {self.created_at:%Y-%m-%d %H:%M}"
