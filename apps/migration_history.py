"""Detects databases that this version cannot migrate or use, and supports moving models to another
app.
"""

from functools import partial
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import RunPython
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

LAST_UNSQUASHED = "5aeaeec3"
"""The last commit with the original migrations. Later versions have squashed migrations."""
PROBLEM = (
    "This database was last migrated by an older version. Check out commit "
    f"{LAST_UNSQUASHED}, run `python manage.py migrate`, then update again."
)


NEWER = (
    "This database was migrated by a newer version of QuickApps ({migration}), whose tables this version "
    "cannot use. Update this installation, or restore a backup that was made before the upgrade."
)
CONTRACT = "_contract"
"""The suffix of migrations that remove something that the previous version still uses."""


def upgrade_problem(connection: BaseDatabaseWrapper) -> str:
    """Return why this version cannot migrate or use the database, or "" if it can.

    Django itself does not detect that the database lacks migrations that no longer exist. Unknown
    migrations from a newer version are allowed if they only add something, so that an upgrade can
    be rolled back.
    """
    loader = MigrationLoader(None)
    applied = MigrationRecorder(connection).applied_migrations().keys()
    contracts = [(app, name) for app, name in applied if name.endswith(CONTRACT)]
    for app, name in sorted(set(contracts) - loader.disk_migrations.keys()):
        return NEWER.format(migration=f"{app}.{name}")
    for migration in loader.replacements.values():
        replaced = set(migration.replaces)
        missing = replaced - applied
        if replaced & applied and not missing <= loader.disk_migrations.keys():
            return PROBLEM
    return ""


def moving_content_types(old: str, new: str, *models: str) -> RunPython:
    """Return a migration operation for models that move from the app `old` to `new`. It preserves
    their permissions and log entries.
    """
    forwards, backwards = (
        partial(move_content_types, labels, models) for labels in ((old, new), (new, old))
    )
    return RunPython(forwards, backwards)


def move_content_types(
    labels: tuple[str, str], models: tuple[str, ...], apps: Any, editor: Any
) -> None:
    old, new = labels
    rows = apps.get_model("contenttypes", "ContentType").objects.using(editor.connection.alias)
    rows.filter(app_label=old, model__in=models).update(app_label=new)
