"""Withdraws a version of an application, so that callers can no longer use it."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from apps.catalog.actions.go_live import lock_application
from apps.catalog.models import Application, ApplicationVersion


def check(row: Application, version: ApplicationVersion) -> None:
    """Raise `ValidationError` if the version is the live version."""
    if row.live_number == version.number:
        raise ValidationError(
            "This version is live. Restore another version first, or disable the application."
        )


def execute(version: ApplicationVersion) -> None:
    with transaction.atomic():
        row = lock_application(version.application)
        check(row, version)
        version.withdrawn_at = timezone.now()
        version.save(update_fields=["withdrawn_at"])
        # Caches detect the change by the row's new version.
        Application.objects.filter(pk=row.pk).update(version=F("version") + 1)
