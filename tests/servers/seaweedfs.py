"""A SeaweedFS server: S3-compatible storage on loopback ports, in its own folder."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest

from apps.workspace.local.files.bucket_address import parse_bucket_address
from apps.workspace.local.files.bucket_storage import BucketStorage, make_store
from tests.sites.fork_server import ROOT

BUCKET = "files"
KEY_ID, SECRET = "tests", "a-secret-of-tests"
PATIENCE = 60.0
WEED = ROOT / ".venv-peers" / "bin" / "weed"
ABSENCE = (
    "SeaweedFS tests skipped: there is no .venv-peers/bin/weed (make .venv-peers/storage.stamp)."
)
IDENTITIES = {
    "identities": [
        {
            "name": "tests",
            "credentials": [{"accessKey": KEY_ID, "secretKey": SECRET}],
            "actions": ["Admin", "Read", "List", "Write"],
        }
    ]
}


@dataclass(frozen=True, slots=True)
class SeaweedFs:
    """A server. `filer` is the address of its own API, which shows the real contents of the bucket."""

    endpoint: str
    filer: str

    def new_address(self) -> str:
        """Return an empty prefix in the bucket. Separate buckets would take much space."""
        return f"s3://{BUCKET}/{uuid4().hex}?endpoint={self.endpoint}&region=us-east-1"

    def unfinished_uploads(self) -> list[str]:
        """Return the multipart uploads that were neither completed nor aborted."""
        address = f"{self.filer}/buckets/{BUCKET}/.uploads/"
        try:
            with urlopen(
                Request(address, headers={"Accept": "application/json"}), timeout=10
            ) as answer:
                return [one["FullPath"] for one in json.load(answer)["Entries"] or ()]
        except HTTPError as error:
            if error.code == 404:
                return []
            raise


@contextmanager
def served() -> Iterator[SeaweedFs]:
    """Serve it. Skips the test if the server is not installed."""
    program = WEED if WEED.exists() else shutil.which("weed")
    if program is None:
        pytest.skip(ABSENCE)
    with tempfile.TemporaryDirectory(prefix="seaweedfs-") as folder:
        identities = Path(folder) / "identities.json"
        identities.write_text(json.dumps(IDENTITIES))
        data = Path(folder) / "data"
        data.mkdir()
        services = ("master", "volume", "filer", "s3")
        ports = free_ports(*(f"{name}.port{kind}" for name in services for kind in ("", ".grpc")))
        command = [
            *(str(program), "server", "-filer", "-s3", f"-dir={data}"),
            *("-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-s3.config={identities}"),
            *(f"-{name}={port}" for name, port in ports.items()),
            *("-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false"),
            *("-volume.max=20", "-master.volumeSizeLimitMB=64"),
        ]
        log = (Path(folder) / "log").open("wb")
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
        try:
            server = SeaweedFs(
                f"http://127.0.0.1:{ports['s3.port']}", f"http://127.0.0.1:{ports['filer.port']}"
            )
            wait_for(server, process)
            yield server
        finally:
            process.kill()
            process.wait()
            log.close()


def free_ports(*names: str) -> dict[str, int]:
    with ExitStack() as taken:
        sockets = [taken.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in names]
        return dict(zip(names, (one.getsockname()[1] for one in sockets), strict=True))


def wait_for(server: SeaweedFs, process: subprocess.Popen[bytes]) -> None:
    """Wait until a file can be stored, which creates the bucket some seconds after the server
    listens."""
    address = parse_bucket_address(server.new_address())
    deadline = time.monotonic() + PATIENCE
    while True:
        assert process.poll() is None, "SeaweedFS ended at its start."
        try:
            BucketStorage(make_store(address, KEY_ID, SECRET), "").put("ready", [b"x"])
        except OSError:
            assert time.monotonic() < deadline, "SeaweedFS does not store files."
            time.sleep(0.1)
        else:
            return
