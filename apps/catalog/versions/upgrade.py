"""When this installation began to count versions.

Calls from before then name how often their application had been saved in place of a version.
"""

from datetime import datetime
from functools import cache

from django.db.migrations.recorder import MigrationRecorder

FIRST = ("catalog", "0011_application_versions")


@cache
def numbers_are_versions_since() -> datetime | None:
    """None if that is not recorded. A query for the first time."""
    app, name = FIRST
    found = MigrationRecorder.Migration.objects.filter(app=app, name=name)
    return found.values_list("applied", flat=True).first()


def forget_upgrade() -> None:
    numbers_are_versions_since.cache_clear()
