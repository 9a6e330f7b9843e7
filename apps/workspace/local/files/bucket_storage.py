"""Stores files in a bucket on an S3-compatible service."""

import errno
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from apps.workspace.local.files.bucket_address import BucketAddress
from apps.workspace.local.files.file_storage import StorageEntry, StoredContent, check_storage_name

if TYPE_CHECKING:  # The type does not exist at run time.
    from obstore import GetResult

CONNECT_SECONDS = 3
READ_SECONDS = 20
"""The read timeout in seconds. It also applies to each uploaded part."""
LONGEST_HOURS = 6
"""The timeout for a download in hours. It is long, because the client may be slow."""
RETRIES = 2
RETRY_SECONDS = 20
"""The maximum time in seconds between the beginning of a request and its last retry."""
PART_BYTES = 5 * 1024 * 1024
"""S3's minimum size for a part in a multipart upload, in bytes. A smaller file is stored with one
request.
"""
PARTS_AT_ONCE = 2
CHUNK_BYTES = 256 * 1024
LONGEST_REASON = 300
"""Our error message includes only this many characters of the library's message, because the
library appends the source of each error.
"""


def make_store(address: BucketAddress, key_id: str, secret: str) -> S3Store:
    """Return a client for the bucket. If the credentials are "", they are read from AWS environment
    variables.
    """
    given = {
        "endpoint": address.endpoint,
        "region": address.region,
        "access_key_id": key_id,
        "secret_access_key": secret,
    }
    return S3Store(
        address.bucket,
        prefix=address.prefix or None,
        config={name: value for name, value in given.items() if value},  # type: ignore[arg-type]  # a TypedDict
        client_options={
            "allow_http": address.endpoint.startswith("http://"),
            "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
            "read_timeout": timedelta(seconds=READ_SECONDS),
            "timeout": timedelta(hours=LONGEST_HOURS),
        },
        retry_config={
            "max_retries": RETRIES,
            "retry_timeout": timedelta(seconds=RETRY_SECONDS),
        },
    )


@dataclass(frozen=True, slots=True)
class BucketStorage:
    store: S3Store
    location: str

    def put(self, name: str, chunks: Iterable[bytes]) -> None:
        check_storage_name(name)
        rest = iter(chunks)
        begin = first_bytes(rest)
        with outages(), missing_bucket():
            if len(begin) < PART_BYTES:
                obstore.put(self.store, name, begin)
            else:
                obstore.put(
                    self.store,
                    name,
                    chain((begin,), rest),
                    chunk_size=PART_BYTES,
                    max_concurrency=PARTS_AT_ONCE,
                )

    @contextmanager
    def open(self, name: str) -> Iterator[StoredContent]:
        check_storage_name(name)
        with outages():
            found = obstore.get(self.store, name)
        yield StoredContent(found.meta["size"], chunks_of(found))

    async def part(self, name: str, first: int, end: int) -> AsyncIterator[bytes]:
        check_storage_name(name)
        if first == end:
            return  # S3 rejects an empty range.
        with outages():
            found = await obstore.get_async(self.store, name, options={"range": (first, end)})
            async for chunk in found.stream(CHUNK_BYTES):
                yield bytes(chunk)

    def exists(self, name: str) -> bool:
        check_storage_name(name)
        try:
            with outages():
                obstore.head(self.store, name)
        except FileNotFoundError:
            return False
        return True

    def delete(self, name: str) -> None:
        check_storage_name(name)
        with outages(), missing_bucket():
            obstore.delete(self.store, name)

    def entries(self) -> Iterator[StorageEntry]:
        with outages(), missing_bucket():
            for found in obstore.list(self.store):
                for one in found:
                    yield StorageEntry(one["path"], one["size"], one["last_modified"])


def first_bytes(chunks: Iterator[bytes]) -> bytes:
    """Return the first `PART_BYTES` of a file or slightly more, or the whole file if it is shorter."""
    begin = bytearray()
    for chunk in chunks:
        begin += chunk
        if len(begin) >= PART_BYTES:
            break
    return bytes(begin)


def chunks_of(found: "GetResult") -> Iterator[bytes]:
    with outages():
        for chunk in found.stream(CHUNK_BYTES):
            yield bytes(chunk)


@contextmanager
def outages() -> Iterator[None]:
    """Convert the service's errors to an OSError, which all APIs report with status 503."""
    try:
        yield
    except BaseError as error:
        reason = str(error).strip().partition("\n")[0][:LONGEST_REASON]
        raise OSError(errno.EIO, f"{type(error).__name__}: {reason}") from error


@contextmanager
def missing_bucket() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise OSError(errno.EIO, "The bucket does not exist") from error
