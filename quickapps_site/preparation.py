"""Sets an installation up before it serves: tables, predefined content, an administrator.

`make run` does it in the process that serves then, because importing everything takes seconds.
"""

from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def prepare() -> None:
    """Bring the database up to date. Raises `CommandError` for content that cannot be imported."""
    if has_migrations_to_apply():
        call_command("migrate", interactive=False, verbosity=0)
    call_command("import_content")
    call_command("admin_account")
    connection.close()


def has_migrations_to_apply() -> bool:
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
