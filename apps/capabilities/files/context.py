"""Provides the files of a run to the file tools, and builds the tools' results."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from apps.agent.messages import Attachment
from apps.agent.tools import ToolResult
from apps.capabilities.registry import Opening
from apps.errors import FileRefused, InvalidParameter
from apps.workspace.loading.file_locations import encode_path
from apps.workspace.loading.files import LoadedFile
from apps.workspace.loading.loader import last_segment
from apps.workspace.stored_files import FileInfo, Files, FolderInfo

PLAIN = "text/plain"
Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FileToolContext:
    """The run in which a file tool is called."""

    opening: Opening
    most_files: int
    """A search reads up to this many files."""

    @property
    def files(self) -> Files:
        return self.opening.workspace.files

    async def home(self) -> str:
        """Return the path of the agent's own folder, with a trailing slash."""
        return f"{await self.files.home()}{encode_path(self.opening.loading.rules.folder)}"

    async def load(self, parameter: str, path: str) -> LoadedFile:
        """Load a file, at most once per run. Raises `InvalidParameter` if it cannot be loaded."""
        with as_invalid_parameter(parameter):
            return await self.opening.loader.load(path)

    async def entries(
        self, parameter: str, folder: str, *, is_deep: bool
    ) -> list[FileInfo | FolderInfo]:
        """List a folder. Raises `InvalidParameter` if the folder cannot be listed in time."""
        try:
            with as_invalid_parameter(parameter):
                async with asyncio.timeout(self.opening.loading.rules.seconds):
                    found = list(await self.files.list(folder, is_deep=is_deep))
                    await self.opening.loader.distrust(folder)
                    return found
        except TimeoutError:
            raise InvalidParameter(
                parameter, "listing the folder timed out; use a smaller folder."
            ) from None

    def forget(self, *paths: str) -> None:
        """Drop changed files from the run's cache."""
        gone = frozenset(map(encode_path, paths))
        loading = self.opening.loading
        loading.loads.forget(lambda file: encode_path(file.path) in gone)
        loading.promotions.forget(lambda info: encode_path(info.path) in gone)


@contextmanager
def as_invalid_parameter(parameter: str) -> Iterator[None]:
    """Convert `FileRefused` errors in the block to `InvalidParameter` errors."""
    try:
        yield
    except FileRefused as error:
        raise InvalidParameter(parameter, str(error)) from error


def text_result(text: str) -> ToolResult:
    return ToolResult(text, PLAIN)


def file_result(text: str, info: FileInfo) -> ToolResult:
    attachment = Attachment(info.content_type, last_segment(info.path), url=info.path)
    return ToolResult(text, PLAIN, attachments=(attachment,))


def count_phrase(number: int, singular: str) -> str:
    return f"{number:,} {singular if number == 1 else f'{singular}s'}"
