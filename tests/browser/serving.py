"""The real site in a process of its own, on a loopback port, with a database of its own.

A browser needs a server that streams and keeps WebSockets, which a test server inside the test
process does not.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import socket
import subprocess
import sys
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

from tests.browser.shell import Shell

ROOT = Path(__file__).resolve().parent.parent.parent
STATIC_DIR = ROOT / "var" / "test-static"
"""All sites share what is built once for each version."""
DATABASE = "db.sqlite3"
PATIENCE = 240.0


@dataclass(frozen=True, slots=True)
class Site:
    """A running site. `environment` is what its process and its commands were started with."""

    url: str
    environment: dict[str, str]
    log: Path

    def manage(self, *arguments: str, text: str = "") -> str:
        """Run a `manage.py` command, fed with `text`, in the site's database; gives its output."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=self.environment,
            input=text,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, f"{command} failed:\n{done.stdout}{done.stderr}"
        return done.stdout

    def shell(self, code: str, **values: Any) -> Any:
        """Run Python in the site's database, with `values` as names.

        Every model is imported already; what the code assigns to `result` comes back as JSON.
        """
        folder = self.environment["DATA_DIR"]
        if folder not in _shells:
            _shells[folder] = Shell(self.environment)
        return _shells[folder].run(textwrap.dedent(code), values)


_shells: dict[str, Shell] = {}
"""By the folder of their sites."""


def close_shell(site: Site) -> None:
    if (shell := _shells.pop(site.environment["DATA_DIR"], None)) is not None:
        shell.close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def site_environment(folder: Path, port: int, **settings: str) -> dict[str, str]:
    """Production settings, except that addresses on the loopback may be asked."""
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
        **settings,
    }


@functools.cache
def migrated_database() -> Path:
    """An SQLite file with all tables and nothing in them; sites get copies, which takes no time."""
    folder = Path(tempfile.mkdtemp(prefix="quickapps-tables-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    Site("", site_environment(folder, 8000), folder / "log").manage("migrate", "--verbosity", "0")
    return folder / DATABASE


@contextmanager
def serve(folder: Path, **settings: str) -> Iterator[Site]:
    """Serve the site with a new database in `folder` for the length of the block."""
    with serve_process(folder, **settings) as (site, _):
        yield site


@contextmanager
def serve_process(
    folder: Path,
    module: str = "quickapps_site.serve",
    arguments: Sequence[str] = (),
    **settings: str,
) -> Iterator[tuple[Site, subprocess.Popen[bytes]]]:
    """The same with the process, for who ends it or looks at what it takes.

    `module` serves; another one than the site's own may tell more of it. `{port}` in its
    `arguments` is where to listen.
    """
    port = free_port()
    log = folder / "server.log"
    site = Site(f"http://127.0.0.1:{port}", site_environment(folder, port, **settings), log)
    if "DATABASE_URL" in settings:
        site.manage("migrate", "--verbosity", "0")
    elif not (folder / DATABASE).exists():
        shutil.copy(migrated_database(), folder / DATABASE)
    command = [sys.executable, "-m", module, *(one.format(port=port) for one in arguments)]
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command,
            cwd=ROOT,
            env=site.environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            wait_until_it_answers(site, process)
            yield site, process
        finally:
            close_shell(site)
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()


def wait_until_it_answers(site: Site, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urlopen(f"{site.url}/admin/login/", timeout=PATIENCE).close()
        except HTTPError as error:
            error.close()
        except (URLError, ConnectionError):
            time.sleep(0.05)
            continue
        return
    raise AssertionError(f"The site did not start:\n{site.log.read_text(errors='replace')}")
