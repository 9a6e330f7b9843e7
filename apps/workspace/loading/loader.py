"""Loads files by their URL during a run. Each file is loaded once, and cached if it fits into the
cache.
"""

import asyncio
import hashlib
from collections.abc import Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from urllib.parse import unquote

from apps.agent.taint import Taint
from apps.errors import FileMissing, FileRefused
from apps.workspace.egress.fetch import fetch, name_in_address, redact_url
from apps.workspace.loading.file_locations import (
    FileLocation,
    climbs,
    encode_path,
    external_host,
    locate_file,
)
from apps.workspace.loading.files import LoadedFile, check_download_size, read_data_uri
from apps.workspace.loading.shared_loads import Loading, LoadingRules
from apps.workspace.stored_files import FileInfo, Files, file_version

T = TypeVar("T")

POSSIBLE = "Use the path of a file (files/…) or an http(s) URL."


@dataclass(frozen=True, slots=True)
class Loader:
    """Loads the files of a run. Sources that belong neither to the caller nor to the operator are
    added to `taint`.
    """

    files: Files
    loading: Loading
    taint: Taint = field(default_factory=Taint)

    @property
    def rules(self) -> LoadingRules:
        return self.loading.rules

    async def load(self, url: str) -> LoadedFile:
        """Load a stored file, or a file from the internet. Raises `FileRefused` (`FetchRefused` for
        the internet) and the workspace's own errors.
        """
        return await self.loading.loads.get(url_key(url), partial(self.bring, url))

    async def load_document(self, url: str, limit: int) -> LoadedFile:
        """Load a stored file of up to `limit` bytes. Other calls do not share the result, because
        their limit may be lower.
        """
        file = await self.in_time(url, self.read(url, locate_file(url), limit))
        await self.distrust(url)
        return file

    async def take(self, url: str) -> LoadedFile:
        """Load a file with `load`, or decode it if the URL is a `data:` URI."""
        location = locate_file(url)
        if location.kind == "data":
            return read_data_uri(location.address, self.rules.limit)
        return await self.load(url)

    async def promote(self, url: str) -> FileInfo:
        """Return the stored file for a URL. A file that is not stored yet, including a `data:` URI,
        is stored first.

        Raises the same errors as `load`.
        """
        return await self.loading.promotions.get(url_key(url), partial(self.store, url))

    async def distrust(self, url: str) -> None:
        """Record the source of a file as untrusted if neither the caller nor the operator controls
        it.
        """
        location = locate_file(url)
        address = unquote(location.address)
        if location.kind == "external" and not self.rules.trusts(address):
            self.taint.add(f"web page {external_host(location.address)}")
        if location.kind != "stored" or self.rules.trusts(address):
            return
        if not await self.files.is_own(location.address):
            self.taint.add(f"file {last_segment(location.address.rstrip('/'))!r} of another user")

    async def bring(self, url: str) -> LoadedFile:
        file = await self.fetch_or_read(url)
        await self.distrust(url)
        return file

    async def fetch_or_read(self, url: str) -> LoadedFile:
        location = locate_file(url)
        async with self.loading.turns:
            if location.kind == "external":
                rules = self.rules
                found = await fetch(url, rules.policy, rules.limit, seconds=rules.seconds)
                return LoadedFile(
                    found.filename, found.content_type, found.content, charset=found.charset
                )
            return await self.in_time(url, self.read(url, location, self.rules.limit))

    async def read(self, url: str, location: FileLocation, limit: int) -> LoadedFile:
        path = await self.path_of(url, location)
        found = await self.files.read(path, limit=limit)
        check_download_size(len(found.content), limit)
        info = found.info
        return LoadedFile(
            last_segment(info.path),
            info.content_type,
            found.content,
            info.path,
            version=file_version(info),
        )

    async def store(self, url: str) -> FileInfo:
        location = locate_file(url)
        if location.kind in {"external", "data"}:
            return await self.keep(await self.take(url))
        info = await self.in_time(url, self.look_up(url, location))
        check_download_size(info.size, self.rules.limit)
        await self.distrust(url)
        return info

    async def keep(self, file: LoadedFile) -> FileInfo:
        # The name contains the content's hash, so identical content is stored only once, and
        # different content never overwrites it.
        digest = hashlib.sha256(file.content).hexdigest()[:16]
        named = file.name if digest in file.name else f"loaded/{digest}/{file.name}"
        return await self.files.keep(named, file.content, file.type)

    async def look_up(self, url: str, location: FileLocation) -> FileInfo:
        return await self.files.info(await self.path_of(url, location))

    async def path_of(self, url: str, location: FileLocation) -> str:
        """Return the path of a stored file. Raises `FileRefused` if the URL does not refer to a
        stored file.
        """
        match location.kind:
            case "stored":
                return location.address
            case "relative":
                return await self.home_path(location.address)
            case _ if climbs(url):
                raise FileMissing(
                    f"The file {redact_url(url)!r} does not exist, or you have no access."
                )
            case _:
                raise FileRefused(
                    f"{redact_url(url)!r} is not a file that can be loaded. {POSSIBLE}"
                )

    async def home_path(self, path: str) -> str:
        """Return the full path, `files/{bucket}/…`, for a relative path that `home_path_problem`
        accepts.
        """
        return f"{await self.files.home()}{encode_path(self.rules.folder)}{encode_path(path)}"

    async def in_time(self, url: str, work: Coroutine[Any, Any, T]) -> T:
        try:
            async with asyncio.timeout(self.rules.seconds):
                return await work
        except TimeoutError as error:
            raise FileRefused(f"Loading the file {redact_url(url)!r} timed out.") from error


def url_key(url: str) -> str:
    """Return a hash of a URL for use as a key, because the URL may contain secrets."""
    return hashlib.sha256(url.strip().encode("utf-8", "replace")).hexdigest()


def last_segment(url: str) -> str:
    """Return the file name at the end of a URL, decoded, or "file" if there is none."""
    return name_in_address(url) or "file"
