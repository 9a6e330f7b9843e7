"""Lists the migrations that this version of the code has or has had."""

from django.db.migrations.loader import MigrationLoader

REMOVED = {
    "accounts": ("0005_visible_texts", "0008_job_events", "0012_alter_auditentry_event"),
    "cases": ("0003_reworded_texts",),
    "catalog": ("0005_visible_texts", "0007_reworded_texts"),
    "chat": ("0003_visible_texts",),
    "conversations": ("0003_visible_texts", "0004_help_texts", "0006_help_texts"),
    "feedback": ("0002_help_texts",),
    "insights": ("0004_help_texts", "0005_five_minutes"),
    "notes": ("0004_visible_texts", "0005_reworded_texts"),
    "runs": ("0005_help_texts",),
    "schedules": ("0003_currencies_of_budgets", "0004_visible_texts", "0005_reworded_texts"),
    "triggers": ("0003_help_texts", "0004_reworded_texts"),
    "workspace": ("0005_help_texts", "0007_reworded_texts"),
}
"""Migrations that were removed from each app, because they changed only texts and choices. Older
databases and backups still list them as applied.
"""


def known_migrations() -> set[tuple[str, str]]:
    """Return pairs of an app and a migration's name, for existing, replaced and removed migrations."""
    loader = MigrationLoader(None, ignore_no_migrations=True)
    replaced = {one for migration in loader.replacements.values() for one in migration.replaces}
    removed = {(app, name) for app, names in REMOVED.items() for name in names}
    return {*loader.disk_migrations, *replaced, *removed}
