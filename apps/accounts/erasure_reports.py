"""Stores reports about erased accounts, with the numbers of deleted and retained items, but not
their contents.
"""

import uuid
from typing import Any

from django.db import models
from django.utils import timezone


class ErasureReport(models.Model):
    """The report of one erasure. `account` is the account ID, which is never reused.

    `removed` and `retained` map each kind of data to the number of items before the deletion.
    `remaining` lists the kinds in `removed` for which a search after the deletion still found
    items. Without `finished_at`, the deletion is in progress or was interrupted.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.BigIntegerField(unique=True)
    requested_by = models.CharField(max_length=100, blank=True)
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    removed = models.JSONField(default=dict)
    retained = models.JSONField(default=dict)
    remaining = models.JSONField(default=dict)

    class Meta:
        verbose_name = "erasure report"
        ordering = ("-started_at", "-pk")

    def __str__(self) -> str:
        return f"account {self.account}"

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
    """Create the report of an account's erasure, or return the one that an interrupted erasure has
    left. Call this before the account is deleted.
    """
    values = {"requested_by": requested_by}
    return ErasureReport.objects.get_or_create(account=account, defaults=values)[0]
