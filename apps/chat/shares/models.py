"""Shared conversations: a snapshot, and the link under which others read it."""

import secrets

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy

TOKEN_BYTES = 24
"""The number of random bytes of a token: 192 bits, in 32 characters."""


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


class Shares(models.QuerySet["Share"]):
    def live(self) -> "Shares":
        """Return the links that have not expired and whose conversations are not deleted."""
        unexpired = models.Q(expires_at=None) | models.Q(expires_at__gt=timezone.now())
        return self.filter(unexpired, conversation__deleted_at=None)


class Share(models.Model):
    """A snapshot of a conversation with its link.

    `owner` is the bucket of `user`, who shared the conversation. Every query by a user is filtered
    by `owner`. The page draws `turns`, which contain the URLs of files under this link. `files` are
    `{"path", "etag", "name"}` by the number in such a URL. If a file has changed since, its `etag`
    differs and it is not served.
    """

    class Audience(models.TextChoices):
        PEOPLE = "people", gettext_lazy("Signed-in users")
        ANYONE = "anyone", gettext_lazy("Anyone with the link")

    # Stored in plain text, because the owner can copy the link again, and anyone who can read this
    # table can read the conversation anyway.
    token = models.CharField(max_length=50, unique=True, default=new_token, editable=False)
    conversation = models.ForeignKey(
        "conversations.Conversation", on_delete=models.CASCADE, related_name="shares"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="shares"
    )
    owner = models.CharField(max_length=100)
    title = models.CharField(max_length=200)
    turns = models.JSONField(default=list)
    files = models.JSONField(default=list)
    with_steps = models.BooleanField(default=False)
    with_files = models.BooleanField(default=False)
    audience = models.CharField(max_length=10, choices=Audience, default=Audience.PEOPLE)
    expires_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = Shares.as_manager()

    class Meta:
        default_permissions = ()
        ordering = ("-created_at", "-pk")
        indexes = (models.Index(fields=("owner", "-created_at"), name="share_of_owner"),)

    def __str__(self) -> str:
        return f"share {self.pk}"
