"""The database model of pinned applications."""

from django.db import models
from django.utils import timezone

from apps.chat.shares.models import Share as Share
from apps.chat.widget.models import UsedIdentity as UsedIdentity


class PinnedApplication(models.Model):
    """An application that a user has pinned to the sidebar."""

    owner = models.CharField(max_length=100)
    application = models.ForeignKey(
        "catalog.Application", on_delete=models.CASCADE, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("created_at", "pk")
        constraints = (
            models.UniqueConstraint(
                fields=("owner", "application"), name="an_application_is_pinned_once"
            ),
        )

    def __str__(self) -> str:
        return f"pinned application {self.pk}"
