"""New databases on the PostgreSQL of the tests, for sites.

They contain all tables, as copies of one that is created once, because creating the tables takes
seconds. The databases of tests in this process are copies as well, if `DATABASE_URL` names a
PostgreSQL.
"""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import psycopg
from django.core.files import locks

from tests.sites.fork_server import ROOT
from tests.sites.serving import TABLES, close_shell, empty_site, version_of_code
from tests.suite.launched import LAUNCHED


def create(name: str, template: str = "") -> None:
    LAUNCHED["databases"] += 1
    execute(f"CREATE DATABASE {name}" + (f" TEMPLATE {template}" if template else ""))


def execute(statement: str) -> None:
    with psycopg.connect(os.environ["TEST_DATABASE_URL"], autocommit=True) as server:
        server.execute(statement.encode())


def names(prefix: str) -> list[str]:
    """Return the databases whose names have this prefix."""
    with psycopg.connect(os.environ["TEST_DATABASE_URL"]) as server:
        found = server.execute(
            "SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [prefix]
        )
        return [name for (name,) in found]


def address_of(name: str) -> str:
    return f"{os.environ['TEST_DATABASE_URL'].rpartition('/')[0]}/{name}"


def drop(name: str) -> None:
    execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@functools.cache
def tables() -> str:
    """Return the name of a database with all tables and no rows. All processes share it. It is
    created once per version of the code and replaces the previous one."""
    of_checkout = f"tables_{sha256(str(ROOT).encode()).hexdigest()[:8]}_"
    name = of_checkout + version_of_code()[:12]
    TABLES.mkdir(parents=True, exist_ok=True)
    with (TABLES / "postgresql.lock").open("w") as lock:
        locks.lock(lock, locks.LOCK_EX)
        present = names(of_checkout)
        if name not in present:
            for old in present:
                drop(old)
            make_tables(name)
    return name


def make_tables(name: str) -> None:
    """Create the tables under a temporary name, so that the final name always means a complete
    database."""
    unfinished = f"{name}_unfinished"
    create(unfinished)
    with tempfile.TemporaryDirectory() as folder:
        site = empty_site(Path(folder), DATABASE_URL=address_of(unfinished))
        site.manage("migrate", "--verbosity", "0")
        close_shell(site)
    execute(f"ALTER DATABASE {unfinished} RENAME TO {name}")


@contextmanager
def database() -> Iterator[str]:
    """Return the name of a database that is dropped afterwards."""
    name = f"site_{uuid4().hex[:12]}"
    create(name, tables())
    try:
        yield name
    finally:
        drop(name)


@contextmanager
def shared_services() -> Iterator[dict[str, str]]:
    """Return settings for what processes share in addition to their folder: such a database, and
    Redis."""
    with database() as name:
        yield {"DATABASE_URL": address_of(name), "REDIS_URL": os.environ["TEST_REDIS_URL"]}
