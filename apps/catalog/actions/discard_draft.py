"""Return True if a draft was discarded. The draft of an unpublished application is retained."""

from apps.catalog.models import Application, ApplicationDraft


def execute(row: Application) -> bool:
    """Return True if a draft was discarded. The draft of an application that was never published is
    not.
    """
    if row.live_number == 0:
        return False
    return bool(ApplicationDraft.objects.filter(application=row.pk).delete()[0])
