"""Prepares an installation before it serves requests: tables, predefined content, and an
administrator.
"""

from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from apps.migration_history import upgrade_problem
from quickapps_site.startup.preparation_lock import hold_lock


def prepare() -> None:
    """Update the database, import content, and create an administrator if there is none.

    Processes that start together do this one after the other. Raises `CommandError` if the database
    is too old, or content cannot be imported.
    """
    with hold_lock():
        if problem := upgrade_problem(connection):
            raise CommandError(problem)
        if has_migrations_to_apply():
            call_command("migrate", interactive=False, verbosity=0)
        call_command("import_content")
        call_command("admin_account")
    connection.close()


def has_migrations_to_apply() -> bool:
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
