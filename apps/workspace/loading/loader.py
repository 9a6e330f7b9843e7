"""Load files by their address during one run: each is loaded once and kept while there is room."""

import asyncio
import hashlib
from collections.abc import Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from urllib.parse import unquote

from apps.agent.taint import Taint
from apps.errors import FileMissing, FileRefused
from apps.workspace.egress.fetch import fetch, shown
from apps.workspace.egress.file_names import name_in_address
from apps.workspace.loading.files import Loaded, check_size, read_data_uri
from apps.workspace.loading.places import Place, climbs, encoded, host_of, place_of
from apps.workspace.loading.shared_loads import Loading, Rules
from apps.workspace.stored_files import FileInfo, Files, version_of

T = TypeVar("T")

POSSIBLE = "Possible are paths of files (files/…) and http(s) URLs."


@dataclass(frozen=True, slots=True)
class Loader:
    """`taint` gets every source that is neither the caller's own nor the operator's."""

    files: Files
    loading: Loading
    taint: Taint = field(default_factory=Taint)

    @property
    def rules(self) -> Rules:
        return self.loading.rules

    async def load(self, url: str) -> Loaded:
        """A stored file, or one on the Internet.

        Raises `FileRefused` (`FetchRefused` for the Internet) and the workspace's own errors.
        """
        return await self.loading.loads.get(key_of(url), partial(self.bring, url))

    async def take(self, url: str) -> Loaded:
        """As `load`, and data: URIs too."""
        place = place_of(url)
        if place.kind == "data":
            return read_data_uri(place.address, self.rules.limit)
        return await self.load(url)

    async def promote(self, url: str) -> FileInfo:
        """The stored file of an address, which is stored first if need be; data: URIs too.

        Raises as `load`.
        """
        return await self.loading.promotions.get(key_of(url), partial(self.store, url))

    async def distrust(self, url: str) -> None:
        """Note that the run reads a file that others may have written."""
        place = place_of(url)
        address = unquote(place.address)
        if place.kind == "external" and not self.rules.trusts(address):
            self.taint.add(f"web page {host_of(place.address)}")
        if place.kind != "stored" or self.rules.trusts(address):
            return
        if not await self.files.is_own(place.address):
            self.taint.add(f"file {last_segment(place.address.rstrip('/'))!r} of somebody else")

    async def bring(self, url: str) -> Loaded:
        file = await self.fetch_or_read(url)
        await self.distrust(url)
        return file

    async def fetch_or_read(self, url: str) -> Loaded:
        place = place_of(url)
        async with self.loading.turns:
            if place.kind == "external":
                rules = self.rules
                found = await fetch(url, rules.policy, rules.limit, seconds=rules.seconds)
                return Loaded(
                    found.filename, found.content_type, found.content, charset=found.charset
                )
            return await self.in_time(url, self.read(url, place))

    async def read(self, url: str, place: Place) -> Loaded:
        path = await self.path_of(url, place)
        found = await self.files.read(path, limit=self.rules.limit)
        check_size(len(found.content), self.rules.limit)
        info = found.info
        return Loaded(
            last_segment(info.path),
            info.content_type,
            found.content,
            info.path,
            version=version_of(info),
        )

    async def store(self, url: str) -> FileInfo:
        place = place_of(url)
        if place.kind in {"external", "data"}:
            return await self.keep(await self.take(url))
        info = await self.in_time(url, self.look_up(url, place))
        check_size(info.size, self.rules.limit)
        await self.distrust(url)
        return info

    async def keep(self, file: Loaded) -> FileInfo:
        # Named by its hash: equal content gives the same file, other content never replaces it.
        digest = hashlib.sha256(file.content).hexdigest()[:16]
        named = file.name if digest in file.name else f"loaded/{digest}/{file.name}"
        return await self.files.keep(named, file.content, file.type)

    async def look_up(self, url: str, place: Place) -> FileInfo:
        return await self.files.info(await self.path_of(url, place))

    async def path_of(self, url: str, place: Place) -> str:
        """Raises `FileRefused` for an address without a path."""
        match place.kind:
            case "stored":
                return place.address
            case "relative":
                return await self.home_path(place.address)
            case _ if climbs(url):
                raise FileMissing(f"There is no file {shown(url)!r} that you may use.")
            case _:
                raise FileRefused(f"{shown(url)!r} is no file that can be loaded. {POSSIBLE}")

    async def home_path(self, path: str) -> str:
        """The full path, `files/{bucket}/…`, of a valid relative one (`home_path_problem`)."""
        return f"{await self.files.home()}{encoded(self.rules.folder)}{encoded(path)}"

    async def in_time(self, url: str, work: Coroutine[Any, Any, T]) -> T:
        try:
            async with asyncio.timeout(self.rules.seconds):
                return await work
        except TimeoutError as error:
            raise FileRefused(f"The file {shown(url)!r} could not be loaded in time.") from error


def key_of(url: str) -> str:
    """A short key that does not contain the address, which may hold secrets."""
    return hashlib.sha256(url.strip().encode("utf-8", "replace")).hexdigest()


def last_segment(url: str) -> str:
    """The file name at the end of an address, decoded; "file" if there is none."""
    return name_in_address(url) or "file"
