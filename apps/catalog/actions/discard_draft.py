"""Discards the draft of an application, unless the application was never published."""

from apps.catalog.models import Application, ApplicationDraft


def execute(row: Application) -> bool:
    """Delete the application's draft. Return False if it has no draft, or was never published."""
    if row.live_number == 0:
        return False
    return bool(ApplicationDraft.objects.filter(application=row.pk).delete()[0])
