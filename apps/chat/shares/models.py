"""A conversation as it was when it was shared, and the link under which it is read."""

import secrets

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy

TOKEN_BYTES = 24
"""192 bits, in 32 characters."""


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


class Shares(models.QuerySet["Share"]):
    def live(self) -> "Shares":
        """Those whose time is not over, of conversations that are not deleted."""
        unexpired = models.Q(expires_at=None) | models.Q(expires_at__gt=timezone.now())
        return self.filter(unexpired, conversation__deleted_at=None)


class Share(models.Model):
    """`owner` is the bucket of `user`, who shared it; every query by a person is filtered by it.

    `turns` are what the page draws, with the addresses of files under this link. `files` are
    `{"path", "etag", "name"}` by the number that stands in such an address; a file that changed
    since has another `etag`, and is not shown.
    """

    class Audience(models.TextChoices):
        PEOPLE = "people", gettext_lazy("People who are signed in here")
        ANYONE = "anyone", gettext_lazy("Anyone with the link")

    # Not only its hash: its owner copies the link again, and whoever reads this table has the
    # conversation anyway.
    token = models.CharField(max_length=50, unique=True, default=new_token, editable=False)
    conversation = models.ForeignKey(
        "chat.Conversation", on_delete=models.CASCADE, related_name="shares"
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
