"""Detects databases that are too old for the squashed migrations."""

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

LAST_UNSQUASHED = "5aeaeec3"
"""The last commit with the migrations that the squashed ones replace."""
PROBLEM = (
    "This database was last migrated by an older version. Check out commit "
    f"{LAST_UNSQUASHED}, run `python manage.py migrate`, then update again."
)


def upgrade_problem(connection: BaseDatabaseWrapper) -> str:
    """Return why this code cannot migrate the database, or "" if it can.

    Django would start from whatever it finds, because the migrations that are missing no longer exist.
    """
    loader = MigrationLoader(None)
    applied = MigrationRecorder(connection).applied_migrations().keys()
    for migration in loader.replacements.values():
        replaced = set(migration.replaces)
        missing = replaced - applied
        if replaced & applied and not missing <= loader.disk_migrations.keys():
            return PROBLEM
    return ""
