"""Stores reports on erased accounts, with counts of the deleted and retained items."""

import uuid
from typing import Any

from django.db import models
from django.utils import timezone


class ErasureReport(models.Model):
    """A report on one erased account."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.BigIntegerField(unique=True)
    """The account's ID, which is never reused."""
    requested_by = models.CharField(max_length=100, blank=True)
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    """The time at which the deletion finished, or None if it is in progress or was interrupted."""
    removed = models.JSONField(default=dict)
    """The number of items of each kind before the deletion."""
    retained = models.JSONField(default=dict)
    remaining = models.JSONField(default=dict)
    """The number of items of each kind that a search found after the deletion."""

    class Meta:
        verbose_name = "erasure report"
        ordering = ("-started_at", "-pk")

    def __str__(self) -> str:
        return f"Deletion of account {self.account}"

    def document(self) -> dict[str, Any]:
        """Return the report as a JSON object that can be downloaded."""
        return {
            "id": str(self.pk),
            "account": self.account,
            "requested_by": self.requested_by,
            "started_at": self.started_at.isoformat(),
            "finished_at": self.finished_at and self.finished_at.isoformat(),
            "removed": self.removed,
            "retained": self.retained,
            "remaining": self.remaining,
        }


def request_erasure(account: int, requested_by: str) -> ErasureReport:
    """Create the report on an account's erasure, or return the report on an interrupted erasure.
    Call this before the account is deleted.
    """
    values = {"requested_by": requested_by}
    return ErasureReport.objects.get_or_create(account=account, defaults=values)[0]
