"""Reads and writes backup archives: tar files whose last member contains a checksum of all others.

The order of the members is `backup.json`, `database`, `files/…`, `contents.json`.
"""

import hashlib
import json
import os
import stat
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Annotated, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from apps.workspace.local.files.file_storage import is_storage_name

FORMAT = 1
"""The version of the archive's format. Increase it when older code cannot restore newer archives.
"""
HEADER, DATABASE, FILES, CONTENTS = "backup.json", "database", "files/", "contents.json"
MOST_JSON_BYTES = 16 * 1024 * 1024
"""The maximum size in bytes of `backup.json` and of `contents.json`."""
CHUNK_BYTES = 1024 * 1024

Document = TypeVar("Document", bound=BaseModel)
Table = Annotated[str, Field(pattern=r"^\w{1,63}$")]


class DamagedArchive(Exception):
    """Raised if an archive is damaged. The message describes the damage."""


class Header(BaseModel):
    """The content of `backup.json`, which describes the origin of a backup."""

    format: int
    version: str
    made_at: str
    vendor: str
    """Django's name for the kind of database."""
    migrations: list[tuple[str, str]]
    keys: Annotated[str, Field(pattern=r"^[0-9a-f]{32}:[0-9a-f]{128}$")]


class Contents(BaseModel):
    """The content of `contents.json`."""

    members: int
    sha256: str
    """The hash of the names, sizes and bytes of all other members."""
    tables: dict[Table, int]
    """The number of rows by table."""
    missing_files: int


# --- Writing ----------------------------------------------------------------------------------


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file that only its owner can read. When the block ends, rename the file to `path`,
    or delete it after an error.
    """
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    finally:
        with suppress(FileNotFoundError):
            Path(temporary).unlink()


class ArchiveWriter:
    def __init__(self, file: IO[bytes]) -> None:
        self.tar = tarfile.TarFile(fileobj=file, mode="w", format=tarfile.GNU_FORMAT)
        self.checksum = hashlib.sha256()
        self.members = 0

    def add_json(self, name: str, document: BaseModel) -> None:
        content = document.model_dump_json(indent=1).encode()
        self.add(name, iter((content,)), len(content))

    def add(self, name: str, content: Iterator[bytes], size: int) -> None:
        """Add a member to the archive. Raises OSError if its content is shorter than `size`."""
        member = tarfile.TarInfo(name)
        member.size, member.mode, member.mtime = size, 0o600, int(time.time())
        self.checksum.update(f"{name}\0{size}\0".encode())
        self.members += 1
        self.tar.members = []  # type: ignore[attr-defined]  # else it holds every member in memory
        self.tar.addfile(member, HashedReader(content, self.checksum))  # type: ignore[arg-type]  # it only reads

    def close(self, tables: Mapping[str, int], missing_files: int) -> None:
        contents = Contents(
            members=self.members,
            sha256=self.checksum.hexdigest(),
            tables=dict(tables),
            missing_files=missing_files,
        )
        self.add_json(CONTENTS, contents)
        self.tar.close()


class HashedReader:
    def __init__(self, chunks: Iterator[bytes], checksum: Any) -> None:
        self.chunks = chunks
        self.checksum = checksum
        self.remaining = memoryview(b"")

    def read(self, size: int) -> bytes:
        found: list[memoryview] = []
        while size:
            self.remaining = self.remaining or memoryview(next(self.chunks, b""))
            if not self.remaining:
                break
            found.append(self.remaining[:size])
            self.remaining = self.remaining[size:]
            size -= len(found[-1])
        read = b"".join(found)
        self.checksum.update(read)
        return read


# --- Reading ----------------------------------------------------------------------------------


def read_header(file: IO[bytes]) -> Header:
    """Return the header of an archive. Raises `DamagedArchive` if it has none."""
    for member, content in members(file):
        if member.name != HEADER:
            break
        return parse_document(Header, content)
    raise DamagedArchive(f"It does not begin with {HEADER}, so it is not a backup.")


def verify(file: IO[bytes]) -> Contents:
    """Read a whole archive, and return its `contents.json`. Raises `DamagedArchive` if the checksum
    does not match.
    """
    checksum, number = hashlib.sha256(), 0
    found: Contents | None = None
    for number, (member, content) in enumerate(members(file)):
        if found is not None:
            raise DamagedArchive(f"{member.name!r} comes after {CONTENTS}.")
        check_member_name(member.name, number)
        if member.name == CONTENTS:
            found = parse_document(Contents, content)
            continue
        checksum.update(f"{member.name}\0{member.size}\0".encode())
        for chunk in read_chunks(content):
            checksum.update(chunk)
    if found is None:
        raise DamagedArchive(f"It ends before {CONTENTS}, so part of it is missing.")
    if (found.members, found.sha256) != (number, checksum.hexdigest()):
        raise DamagedArchive("Its content does not match its checksum.")
    return found


def check_member_name(name: str, number: int) -> None:
    """Raise `DamagedArchive` if a backup cannot have a member with this name at index `number`."""
    if number < 2:
        is_right = name == (HEADER, DATABASE)[number]
    else:
        is_right = name == CONTENTS or (
            name.startswith(FILES) and is_storage_name(name.removeprefix(FILES))
        )
    if not is_right:
        raise DamagedArchive(f"It has an unexpected member {name!r}.")


def members(file: IO[bytes]) -> Iterator[tuple[tarfile.TarInfo, IO[bytes]]]:
    """Yield the members of an archive in order, each with a file for its content. Raises
    `DamagedArchive`.
    """
    file.seek(0)
    size = os.fstat(file.fileno()).st_size
    with damage(), tarfile.open(fileobj=file, mode="r:") as tar:
        while (member := tar.next()) is not None:
            tar.members = []  # type: ignore[attr-defined]  # else it holds every member in memory
            if member.type != tarfile.REGTYPE or member.issparse() or member.pax_headers:
                raise DamagedArchive(f"Its member {member.name!r} is not a regular file.")
            if member.offset_data + member.size > size:
                raise DamagedArchive("Part of it is missing.")
            if (
                content := tar.extractfile(member)
            ) is not None:  # For a regular file, the result is a file object.
                yield member, content


def read_chunks(content: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of a member in chunks. Raises `DamagedArchive` if it cannot be read."""
    with damage():
        while chunk := content.read(CHUNK_BYTES):
            yield chunk


@contextmanager
def damage() -> Iterator[None]:
    """Convert tar errors that are raised in the block to `DamagedArchive`."""
    try:
        yield
    except (tarfile.TarError, UnicodeError, EOFError) as error:
        raise DamagedArchive("It cannot be read as a tar archive.") from error


def parse_document(kind: type[Document], content: IO[bytes]) -> Document:
    """Parse a JSON member of an archive. Raises `DamagedArchive` if it is invalid."""
    raw = content.read(MOST_JSON_BYTES + 1)
    try:
        if len(raw) <= MOST_JSON_BYTES:
            return kind.model_validate(json.loads(raw))
    except (ValidationError, ValueError, RecursionError):
        pass
    raise DamagedArchive(f"Its {kind.__name__.lower()} cannot be read.")


def open_regular(path: Path) -> IO[bytes]:
    """Open an archive for reading. Raises `DamagedArchive` if the path is not a regular file, or
    OSError if it cannot be opened.
    """
    file = path.open("rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise DamagedArchive("It is not a regular file.")
    return file
