"""Simulates the file system of one execution in memory, with size limits."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from pydantic_monty import MemoryFile, MontyFileHandle, OSAccess

HOME = "/data"
"""The working directory of the code, with its input files."""
MOST_WRITTEN_BYTES = 32 * 1024 * 1024
"""The code may write up to this many bytes. The server's memory holds them until the code ends."""
MOST_READ_BYTES = 256 * 1024 * 1024
"""The code may read up to this many bytes in total. Each read copies the file."""


class GrowingFile(MemoryFile):
    """A file in memory that collects appended data in a list, so that many small appends take
    linear time.
    """

    def __init__(self, path: PurePosixPath, content: bytes) -> None:
        super().__init__(path, b"")
        self.chunks = [content]

    def read_content(self) -> bytes:
        self.chunks = [b"".join(self.chunks)]
        return self.chunks[0]

    def write_content(self, content: str | bytes) -> None:
        self.chunks = [as_bytes(content)]

    def append(self, content: bytes) -> None:
        self.chunks.append(content)


class SandboxFolder(OSAccess):
    """The file system of the sandbox, without environment variables, clock or network."""

    def __init__(self, inputs: Mapping[str, bytes]) -> None:
        paths = {PurePosixPath(HOME) / name: content for name, content in inputs.items()}
        files = [GrowingFile(path, content) for path, content in paths.items()]
        super().__init__(files, environ={}, root_dir=HOME, max_sleep=0)
        self.inputs = paths
        self.written = 0
        self.read = 0
        self.path_mkdir(PurePosixPath(HOME), parents=True, exist_ok=True)

    def path_read_text(self, path: PurePosixPath | MontyFileHandle) -> str:
        text = super().path_read_text(path)
        self.charge_reading(len(text))
        return text

    def path_read_bytes(self, path: PurePosixPath | MontyFileHandle) -> bytes:
        content = super().path_read_bytes(path)
        self.charge_reading(len(content))
        return content

    # All writes use one of these two methods.

    def _write_file(self, path: PurePosixPath, data: bytes | str) -> None:
        content = as_bytes(data)
        self.charge_writing(len(content))
        is_new = self._get_entry(path) is None
        super()._write_file(path, content)
        parent = self._parent_entry(path)
        if is_new and isinstance(parent, dict):
            parent[path.name] = GrowingFile(path, content)

    def _append(self, path: PurePosixPath, data: bytes | str) -> None:
        entry = self._get_entry(path)
        if not isinstance(entry, GrowingFile):
            self._write_file(path, data)
            return
        content = as_bytes(data)
        self.charge_writing(len(content))
        entry.append(content)

    def charge_writing(self, size: int) -> None:
        """Count written bytes. Raises `OSError` in the executed code if the limit is exceeded."""
        self.written += size
        if self.written > MOST_WRITTEN_BYTES:
            raise OSError(
                f"[Errno 28] No space left: a call can write at most {MOST_WRITTEN_BYTES} bytes"
            )

    def charge_reading(self, size: int) -> None:
        """Count read bytes. Raises `OSError` in the executed code if the limit is exceeded."""
        self.read += size
        if self.read > MOST_READ_BYTES:
            raise OSError(f"[Errno 5] A call can read at most {MOST_READ_BYTES} bytes of files")

    def changed_files(self) -> dict[str, bytes]:
        """Return the content of new and changed files, by path below `HOME`."""
        found: dict[str, bytes] = {}
        folders = [PurePosixPath(HOME)]
        while folders:
            folder = folders.pop()
            entries = self.path_iterdir(folder) if self.path_is_dir(folder) else []
            for path in entries:
                if self.path_is_dir(path):
                    folders.append(path)
                    continue
                content = super().path_read_bytes(path)
                if content and self.inputs.get(path) != content:
                    found[str(path.relative_to(HOME))] = content
        return found

    def removed_files(self) -> tuple[str, ...]:
        """Return the input files that the code deleted, by path below `HOME`."""
        gone = (path for path in self.inputs if not self.path_exists(path))
        return tuple(str(path.relative_to(HOME)) for path in gone)


def as_bytes(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode("utf-8", "replace")
