"""Archives an application, or restores it from the archive. Its data is retained."""

from django.db import transaction
from django.utils import timezone

from apps.catalog.actions.go_live import lock_application
from apps.catalog.history.actors import ChangeNote, noting
from apps.catalog.models import Application

ARCHIVING = ("archived_at", "is_enabled", "updated_at")


def execute(row: Application) -> None:
    with transaction.atomic(), noting(ChangeNote("Archived")):
        row = lock_application(row)
        if row.archived_at is None:
            row.archived_at, row.is_enabled = timezone.now(), False
            row.save(update_fields=ARCHIVING)


def undo(row: Application) -> None:
    """Restore an application from the archive. Enable it if it has a published version."""
    with transaction.atomic(), noting(ChangeNote("Taken out of the archive")):
        row = lock_application(row)
        if row.archived_at is not None:
            row.archived_at, row.is_enabled = None, row.live_number > 0
            row.save(update_fields=ARCHIVING)
