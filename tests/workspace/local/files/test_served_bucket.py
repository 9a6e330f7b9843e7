"""A site in a separate process that stores its files in a bucket."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from apps.workspace.local.files.file_storage import FileStorage
from apps.workspace.local.files.storage import storage
from tests.measuring.process_memory import MEBIBYTE, most_more
from tests.servers.seaweedfs import KEY_ID, SECRET, SeaweedFs
from tests.sites.serving import Site, serve_process

pytestmark = [
    pytest.mark.full,
    pytest.mark.slow("serves a site and SeaweedFS in processes of their own"),
]

LIMIT = 120 * MEBIBYTE
HEAD = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
TAIL = b"\r\n--edge--\r\n"
PREPARE = """
from apps.accounts.models import ApiKey
row, key = ApiKey.objects.create_key(name="uploads")
result = [f"key-{row.prefix}", key]
"""


@dataclass(frozen=True, slots=True)
class Program:
    site: Site
    pid: int
    bucket: str
    key: str

    def path(self, name: str) -> str:
        return f"/v1/files/{self.bucket}/{name}"

    def ask(self, name: str, method: str = "GET", **headers: str) -> Any:
        named = {"api-key": self.key, **headers}
        return urlopen(
            Request(self.site.url + self.path(name), headers=named, method=method), timeout=60
        )

    def put(self, name: str, blocks: Iterator[bytes], size: int) -> int:
        """Send a file piece by piece. Return the status."""
        connection = http.client.HTTPConnection(urlsplit(self.site.url).netloc, timeout=60)
        with closing(connection):
            connection.putrequest("PUT", self.path(name))
            for header, value in self.headers(size).items():
                connection.putheader(header, value)
            connection.endheaders()
            connection.send(HEAD)
            for block in blocks:
                connection.send(block)
            connection.send(TAIL)
            return connection.getresponse().status

    def headers(self, size: int) -> dict[str, str]:
        return {
            "api-key": self.key,
            "content-type": "multipart/form-data; boundary=edge",
            "content-length": str(len(HEAD) + size + len(TAIL)),
        }


@pytest.fixture(scope="module")
def address(server: SeaweedFs) -> str:
    return server.new_address()


@pytest.fixture(scope="module")
def program(address: str, tmp_path_factory: Any) -> Iterator[Program]:
    settings = {
        "FILES_URL": address,
        "FILES_ACCESS_KEY_ID": KEY_ID,
        "FILES_SECRET_ACCESS_KEY": SECRET,
        "DEFAULT_FILE_LOADING_SIZE_LIMIT": str(LIMIT),
    }
    with serve_process(tmp_path_factory.mktemp("site"), **settings) as (site, process):
        bucket, key = site.shell(PREPARE)
        yield Program(site, process.pid, bucket, key)


@pytest.fixture
def files(address: str, settings: Any) -> FileStorage:
    """Return the site's bucket, opened in this process."""
    settings.FILES_URL = address
    settings.FILES_ACCESS_KEY_ID, settings.FILES_SECRET_ACCESS_KEY = KEY_ID, SECRET
    return storage()


def names(files: FileStorage) -> list[str]:
    return [entry.name for entry in files.entries() if entry.name != "installation.id"]


def blocks(size: int) -> Iterator[bytes]:
    block = bytes(range(256)) * 256
    for _ in range(size // len(block)):
        yield block


def test_a_file_is_uploaded_read_in_parts_and_deleted(program, files):
    before = names(files)

    status = program.put("a.txt", iter((b"0123456789",)), 10)
    with program.ask("a.txt") as whole, program.ask("a.txt", range="bytes=2-4") as part:
        found = (whole.status, whole.read(), part.status, part.read())
    stored = len(names(files)) - len(before)
    program.ask("a.txt", "DELETE").close()

    assert (status, found, stored) == (200, (200, b"0123456789", 206, b"234"), 1)
    assert names(files) == before
    with pytest.raises(HTTPError, match="404"):
        program.ask("a.txt")
    with urlopen(f"{program.site.url}/readyz", timeout=60) as ready:
        assert ready.status == 200


def test_a_large_file_takes_little_memory(program, files):
    size = 100 * MEBIBYTE
    expected, found = sha256(), sha256()
    for block in blocks(size):
        expected.update(block)
    program.put("warm.bin", blocks(MEBIBYTE), MEBIBYTE)

    with most_more(program.pid) as up:
        status = program.put("big.bin", blocks(size), size)
    with most_more(program.pid) as down, program.ask("big.bin") as answer:
        while piece := answer.read(MEBIBYTE):
            found.update(piece)

    assert (status, found.hexdigest()) == (200, expected.hexdigest())
    assert [more for more in (*up, *down) if more > 20 * MEBIBYTE] == []
    for name in ("big.bin", "warm.bin"):
        program.ask(name, "DELETE").close()


def test_an_upload_that_is_cut_leaves_nothing(program, files, server):
    before, size = names(files), 30 * MEBIBYTE
    head = "".join(f"{name}: {value}\r\n" for name, value in program.headers(size).items())
    address = urlsplit(program.site.url)

    with socket.create_connection((address.hostname or "", address.port or 0), 60) as connection:
        connection.sendall(
            f"PUT {program.path('cut.bin')} HTTP/1.1\r\nhost: localhost\r\n{head}\r\n".encode()
        )
        connection.sendall(HEAD + bytes(20 * MEBIBYTE))
    program.put("after.txt", iter((b"x",)), 1)  # the site has noticed by then
    program.ask("after.txt", "DELETE").close()

    assert names(files) == before
    assert server.unfinished_uploads() == []


def test_an_upload_above_the_limit_leaves_nothing(program, files, server):
    before, size = names(files), LIMIT + MEBIBYTE // 64

    status = program.put("large.bin", iter((bytes(size),)), size)

    assert status == 413
    assert names(files) == before
    assert server.unfinished_uploads() == []
