"""Discards the draft of an application, unless the application was never published."""

from apps.catalog.models import Application, ApplicationDraft


def execute(row: Application) -> bool:
    """Discard the draft. Return False if there is none, or if the application was never
    published.
    """
    if row.live_number == 0:
        return False
    return bool(ApplicationDraft.objects.filter(application=row.pk).delete()[0])
