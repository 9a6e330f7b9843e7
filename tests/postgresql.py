"""New databases of the PostgreSQL of the tests, which sites are served with. All tables are there.

They are copies of one that is made once, because making the tables takes seconds.
"""

from __future__ import annotations

import atexit
import functools
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg

from tests.browser.serving import close_shell, empty_site
from tests.launched import LAUNCHED


def create(name: str, template: str = "") -> None:
    LAUNCHED["databases"] += 1
    execute(f"CREATE DATABASE {name}" + (f" TEMPLATE {template}" if template else ""))


def execute(statement: str) -> None:
    with psycopg.connect(os.environ["TEST_DATABASE_URL"], autocommit=True) as server:
        server.execute(statement.encode())


def address_of(name: str) -> str:
    return f"{os.environ['TEST_DATABASE_URL'].rpartition('/')[0]}/{name}"


def drop(name: str) -> None:
    execute(f"DROP DATABASE {name} WITH (FORCE)")


@functools.cache
def tables() -> str:
    """The name of a database with all tables and nothing in them."""
    name = f"tables_{uuid4().hex[:12]}"
    create(name)
    atexit.register(drop, name)
    with tempfile.TemporaryDirectory() as folder:
        site = empty_site(Path(folder), DATABASE_URL=address_of(name))
        site.manage("migrate", "--verbosity", "0")
        close_shell(site)
    return name


@contextmanager
def database() -> Iterator[str]:
    """The name of one that is dropped afterwards."""
    name = f"site_{uuid4().hex[:12]}"
    create(name, tables())
    try:
        yield name
    finally:
        drop(name)


@contextmanager
def shared_services() -> Iterator[dict[str, str]]:
    """What processes share beside their folder, as settings: such a database, and Redis."""
    with database() as name:
        yield {"DATABASE_URL": address_of(name), "REDIS_URL": os.environ["TEST_REDIS_URL"]}
