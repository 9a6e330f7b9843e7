"""Create pytest-django's databases as copies of one with all tables, without running migrations."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

from django.conf import settings
from django.db.backends.sqlite3.creation import DatabaseCreation

from tests.browser.serving import migrated_database

create_without_tables = vars(DatabaseCreation)["_create_test_db"]


def use_templates() -> None:
    """Change how Django creates the databases of this process."""
    setattr(DatabaseCreation, "_create_test_db", create_with_tables)  # noqa: B010 - mypy: a method
    for database in settings.DATABASES.values():
        if "postgresql" in database["ENGINE"]:
            from tests.postgresql import tables

            database["TEST"] = {**database.get("TEST", {}), "TEMPLATE": tables()}


def create_with_tables(creation: DatabaseCreation, *arguments: Any, **options: Any) -> str:
    """Create it in memory. A copy disappears with its last connection, so one stays open."""
    name: str = create_without_tables(creation, *arguments, **options)
    creation.connection.settings_dict["NAME"] = name
    creation.connection.ensure_connection()
    with closing(sqlite3.connect(migrated_database())) as tables:
        tables.backup(creation.connection.connection)
    return name
