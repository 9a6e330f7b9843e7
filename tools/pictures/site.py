"""A site with an empty database, in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from socket import create_server

START_SECONDS = 180.0
PASSWORD = re.compile(r"(?m)^Password: (\S+)$")


@dataclass(frozen=True, slots=True)
class Site:
    url: str
    password: str
    """The password of the account `admin`."""


@contextmanager
def served() -> Iterator[Site]:
    """Serve a new site on a free port until the block ends."""
    with create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        environment = {
            "PATH": os.environ["PATH"],
            "DATA_DIR": folder,
            "PORT": str(port),
            "PRIVATE_NETWORK_ALLOWLIST": "localhost,127.0.0.1",
        }
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "quickapps_site.serve", "--prepare"],
                env=environment,
                stdout=output,
                stderr=output,
            )
        try:
            wait_until_ready(port, process, log)
            password = PASSWORD.findall(log.read_text())[0]
            yield Site(f"http://127.0.0.1:{port}", password)
        finally:
            process.terminate()
            process.wait(60)


def wait_until_ready(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the site is ready. Raises RuntimeError with the log if it does not start in time."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        if is_ready(port):
            return
        time.sleep(0.5)
    raise RuntimeError(f"The site did not start:\n{log.read_text()}")


def is_ready(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()
