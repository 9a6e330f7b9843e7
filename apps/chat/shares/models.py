"""Database models for shared conversations and their links."""

import secrets

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy

TOKEN_BYTES = 24
"""The number of random bytes in a token: 192 bits, encoded as 32 characters."""


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


class Shares(models.QuerySet["Share"]):
    def live(self) -> "Shares":
        """Return links that have not expired and whose conversations are not deleted."""
        unexpired = models.Q(expires_at=None) | models.Q(expires_at__gt=timezone.now())
        return self.filter(unexpired, conversation__deleted_at=None)


class Share(models.Model):
    """A snapshot of a conversation, and the link through which others read it.

    `owner` is the bucket of `user`, who shared the conversation. Every query on behalf of a user
    filters by `owner`. `turns` contain file URLs below the link, which end with a number. `files`
    contains `{"path", "etag", "name"}` for each number. A file that has changed since has another
    `etag` and is not served.
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
