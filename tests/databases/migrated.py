"""Create pytest-django's databases as copies of one with all tables, without running migrations."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from typing import Any

from django.conf import settings
from django.db.backends.sqlite3.creation import DatabaseCreation

from tests.sites.serving import migrated_database


def use_templates() -> None:
    """Change how Django creates the databases of this process."""
    setattr(DatabaseCreation, "_create_test_db", copy_tables)  # noqa: B010 - mypy: a method
    for database in settings.DATABASES.values():
        tests = database.setdefault("TEST", {})
        if "postgresql" in database["ENGINE"]:
            from tests.databases.postgresql import tables

            tests["TEMPLATE"] = tables()
        else:
            tests["NAME"] = new_file()


def new_file() -> str:
    """Return the path of a file, because threads that share a database in memory do not wait for
    each other's locks but fail.
    """
    folder = tempfile.mkdtemp(prefix="quickapps-tables-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return f"{folder}/db.sqlite3"


def copy_tables(creation: DatabaseCreation, *_arguments: Any, **_options: Any) -> str:
    name: str = creation.connection.settings_dict["TEST"]["NAME"]
    shutil.copyfile(migrated_database(), name)
    return name
