"""The database model of shared conversations."""

import secrets

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy

TOKEN_BYTES = 24
"""The number of random bytes in a link's token. Encoded, the token has 32 characters."""


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


class Shares(models.QuerySet["Share"]):
    def live(self) -> "Shares":
        """Return the links that have not expired and whose conversations are not deleted."""
        unexpired = models.Q(expires_at=None) | models.Q(expires_at__gt=timezone.now())
        return self.filter(unexpired, conversation__deleted_at=None)


class Share(models.Model):
    """A snapshot of a conversation, and the link with which others can read it."""

    class Audience(models.TextChoices):
        PEOPLE = "people", gettext_lazy("Signed-in users")
        ANYONE = "anyone", gettext_lazy("Anyone with the link")

    # Not hashed, because the owner can copy the link again. A hash would protect nothing, because
    # the same row contains the conversation.
    token = models.CharField(max_length=50, unique=True, default=new_token, editable=False)
    conversation = models.ForeignKey(
        "conversations.Conversation", on_delete=models.CASCADE, related_name="shares"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="shares"
    )
    owner = models.CharField(max_length=100)
    """The bucket of `user`, who shared the conversation. Queries for a user's links filter by it."""
    title = models.CharField(max_length=200)
    turns = models.JSONField(default=list)
    """The turns as JSON. The URL of a shared file contains the file's number in `files`, counted
    from 1.
    """
    files = models.JSONField(default=list)
    """The files as `{"path", "etag", "name"}`. A file with a changed ETag is not served."""
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
