"""The real site in a separate process, on a loopback port, with its own database.

A browser needs a server that streams and keeps WebSockets open, unlike a test server inside the
test process.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import os
import shutil
import socket
import subprocess
import tempfile
import textwrap
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from django.core.files import locks

from tests.sites.fork_server import ROOT, Fork, fork_server
from tests.sites.shell import Shell, shell_of, start_shell
from tests.suite.launched import LAUNCHED

PROGRAM = "tests.sites.quick_site"
STATIC_DIR = ROOT / "var" / "test-static"
"""Files that are built once per version and shared by all sites."""
TABLES = ROOT / "var" / "test-tables"
"""A database with all tables, built once as well."""
DATABASE = "db.sqlite3"
PATIENCE = 240.0
PORTS_OF_PROCESS = 100
FIRST_PORT = 10_000 + os.getpid() % 200 * PORTS_OF_PROCESS
PORTS = itertools.cycle(range(FIRST_PORT, FIRST_PORT + PORTS_OF_PROCESS))


@dataclass(frozen=True, slots=True)
class Site:
    """A running site. `environment` is that of its processes."""

    url: str
    environment: dict[str, str]
    log: Path

    def manage(self, *arguments: str) -> str:
        """Run a `manage.py` command on the site's database. Return its output."""
        code = """
            from io import StringIO
            from django.core.management import call_command
            written = StringIO()
            call_command(*arguments, stdout=written)
            result = written.getvalue()
            """
        return str(self.shell(code, arguments=arguments))

    def shell(self, code: str, **values: Any) -> Any:
        """Run Python on the site's database, with `values` as names. Every model is imported
        already. The value of `result` is returned as JSON."""
        folder = self.environment["DATA_DIR"]
        if folder not in _shells:
            _shells[folder] = start_shell(self.environment)
        return _shells[folder].run(textwrap.dedent(code), values)


_shells: dict[str, Shell] = {}
"""Shells by the folder of their sites."""


def close_shell(site: Site) -> None:
    if (shell := _shells.pop(site.environment["DATA_DIR"], None)) is not None:
        shell.close()


def free_port() -> int:
    """Return a port that stays free until the site listens there. Systems pick the ports of
    connections from a higher range, and other test processes start elsewhere."""
    for port in itertools.islice(PORTS, PORTS_OF_PROCESS):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("All ports of this process are taken.")


def site_environment(folder: Path, port: int, **settings: str) -> dict[str, str]:
    """Return production settings, except that requests to loopback addresses are allowed."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "DATA_DIR": str(folder),
        "STATIC_DIR": str(STATIC_DIR),
        "DEBUG": "false",
        "PORT": str(port),
        "SITE_URL": f"http://127.0.0.1:{port}",
        "PRIVATE_NETWORK_ALLOWLIST": "localhost,127.0.0.1",
        # A title would be one more model call per conversation.
        "CONVERSATION_TITLES": "question",
        # There is no load balancer that has to notice the stop.
        "SHUTDOWN_DRAIN_SECONDS": "0",
        "SHUTDOWN_GRACE_SECONDS": "3",
        **settings,
    }


@functools.cache
def migrated_database() -> Path:
    """Return an SQLite file with all tables and no rows, which sites copy quickly. All processes
    share the file, which is created once per version of the code."""
    TABLES.mkdir(parents=True, exist_ok=True)
    database, stamp = TABLES / DATABASE, TABLES / "made.sha256"
    version = version_of_code()
    with (TABLES / "lock").open("w") as lock:
        locks.lock(lock, locks.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != version:
            with tempfile.TemporaryDirectory(dir=TABLES) as folder:
                site = empty_site(Path(folder))
                site.manage("migrate", "--verbosity", "0")
                close_shell(site)
                Path(folder, DATABASE).replace(database)
            stamp.write_text(version)
    return database


def version_of_code() -> str:
    digest = hashlib.sha256((ROOT / "requirements.txt").read_bytes())
    for folder in ("apps", "quickapps_site"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(f"{path.relative_to(ROOT)}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def empty_site(folder: Path, **settings: str) -> Site:
    """Create a site that is not served yet, without tables."""
    port = free_port()
    environment = site_environment(folder, port, **settings)
    return Site(f"http://127.0.0.1:{port}", environment, folder / "server.log")


def new_site(folder: Path, **settings: str) -> Site:
    """Create a site that is not served yet, with a new database in `folder`, unless the settings
    name one."""
    if "DATABASE_URL" not in settings and not (folder / DATABASE).exists():
        LAUNCHED["databases"] += 1
        shutil.copy(migrated_database(), folder / DATABASE)
    return empty_site(folder, **settings)


@contextmanager
def serve(folder: Path, **settings: str) -> Iterator[Site]:
    """Serve the site with a new database in `folder` within the block."""
    with serve_process(folder, **settings) as (site, _):
        yield site


@contextmanager
def serve_process(
    folder: Path, module: str = PROGRAM, arguments: Sequence[str] = (), **settings: str
) -> Iterator[tuple[Site, Fork]]:
    """Serve as above, and yield the process too. `module` can be a site that reports more. `{port}`
    in its `arguments` is replaced by its port."""
    site = new_site(folder, **settings)
    port = site.environment["PORT"]
    with running(site, module, [one.format(port=port) for one in arguments]) as fork:
        yield site, fork


@contextmanager
def running(site: Site, module: str = PROGRAM, arguments: Sequence[str] = ()) -> Iterator[Fork]:
    """Serve the site in the folder."""
    site.log.unlink(missing_ok=True)
    ours, theirs = socket.socketpair()
    with theirs:
        fork = start(site, module, arguments, theirs.fileno())
    try:
        wait_until_it_answers(site, fork)
        folder, shell = site.environment["DATA_DIR"], shell_of(ours)
        if shell is not None and _shells.setdefault(folder, shell) is not shell:
            shell.close()  # another process serves the same folder
        yield fork
    finally:
        close_shell(site)
        fork.stop(60)


def start(
    site: Site, module: str = PROGRAM, arguments: Sequence[str] = (), shell: int | None = None
) -> Fork:
    """Start the process. Its output is appended to the log of the site. `shell` is the socket for
    its shell."""
    with site.log.open("ab") as output, Path(os.devnull).open("rb") as nothing:
        files = (nothing.fileno() if shell is None else shell, output.fileno(), output.fileno())
        return fork_server().start(module, arguments, site.environment, files)


def wait_until_it_answers(site: Site, process: Fork | subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urlopen(f"{site.url}/healthz", timeout=PATIENCE).close()
        except HTTPError as error:
            error.close()
        except (URLError, ConnectionError):
            time.sleep(0.05)
            continue
        return
    raise AssertionError(f"The site did not start:\n{site.log.read_text(errors='replace')}")
