"""Lists the migrations that this version of the code contains."""

from django.db.migrations.loader import MigrationLoader


def known_migrations() -> set[tuple[str, str]]:
    """Return the migrations on disk, and the migrations that squashed migrations replace."""
    loader = MigrationLoader(None, ignore_no_migrations=True)
    replaced = {one for migration in loader.replacements.values() for one in migration.replaces}
    return {*loader.disk_migrations, *replaced}
