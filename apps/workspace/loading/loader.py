"""Files by their address, for one run: each loaded once, whoever wants it and however often."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from apps.errors import FileMissing, FileRefused
from apps.workspace.egress.fetch import fetch
from apps.workspace.egress.fetch_names import shown
from apps.workspace.loading.data_uris import read_data_uri
from apps.workspace.loading.files import Loaded, check_size
from apps.workspace.loading.once import Once
from apps.workspace.loading.places import Place, climbs, encoded, place_of
from apps.workspace.loading.rules import Rules, installation_rules
from apps.workspace.port import FileInfo, Files

T = TypeVar("T")

KEPT_BYTES = 32 * 1024 * 1024
"""Of the files of one run that are kept for the next call that wants them."""
MOST_PROMOTED = 1000
AT_ONCE = 8
"""Files that one run loads at the same time."""
POSSIBLE = "Possible are paths of files (files/…) and http(s) URLs."


@dataclass(frozen=True, slots=True)
class Loading:
    """The rules of a run, and what it has loaded so far."""

    rules: Rules = field(default_factory=installation_rules)
    loads: Once[Loaded] = field(
        default_factory=lambda: Once(KEPT_BYTES, lambda file: len(file.content))
    )
    promotions: Once[FileInfo] = field(default_factory=lambda: Once(MOST_PROMOTED, lambda info: 1))
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))


@dataclass(frozen=True, slots=True)
class Loader:
    files: Files
    loading: Loading

    @property
    def rules(self) -> Rules:
        return self.loading.rules

    async def load(self, url: str) -> Loaded:
        """The bytes of a stored file, or of one on the Internet.

        Raises `FileRefused` (`FetchRefused` for the Internet) and what the workspace raises.
        """
        return await self.loading.loads.get(key_of(url), partial(self.bring, url))

    async def take(self, url: str) -> Loaded:
        """As `load`, and the bytes of data: URIs too."""
        place = place_of(url)
        if place.kind == "data":
            return read_data_uri(place.address, self.rules.limit)
        return await self.load(url)

    async def promote(self, url: str) -> FileInfo:
        """The stored file behind an address: what is stored is looked up, anything else is kept.

        Takes data: URIs too. Raises as `load` does.
        """
        return await self.loading.promotions.get(key_of(url), partial(self.store, url))

    async def bring(self, url: str) -> Loaded:
        place = place_of(url)
        async with self.loading.turns:
            if place.kind == "external":
                return await self.fetch(place.address)
            return await self.in_time(url, self.read(url, place))

    async def fetch(self, url: str) -> Loaded:
        rules = self.rules
        found = await fetch(url, rules.policy, rules.limit, seconds=rules.seconds)
        return Loaded(found.filename, found.content_type, found.content, charset=found.charset)

    async def read(self, url: str, place: Place) -> Loaded:
        path = await self.path_of(url, place)
        found = await self.files.read(path, limit=self.rules.limit)
        check_size(len(found.content), self.rules.limit)
        info = found.info
        return Loaded(last_segment(info.path), info.content_type, found.content, info.path)

    async def store(self, url: str) -> FileInfo:
        place = place_of(url)
        if place.kind in {"external", "data"}:
            return await self.keep(await self.take(url))
        info = await self.in_time(url, self.look_up(url, place))
        check_size(info.size, self.rules.limit)
        return info

    async def keep(self, file: Loaded) -> FileInfo:
        """Write a file that is not stored; the same again is the same, another never replaces it."""
        digest = hashlib.sha256(file.content).hexdigest()[:16]
        named = file.name if digest in file.name else f"loaded/{digest}/{file.name}"
        return await self.files.keep(named, file.content, file.type)

    async def look_up(self, url: str, place: Place) -> FileInfo:
        return await self.files.info(await self.path_of(url, place))

    async def path_of(self, url: str, place: Place) -> str:
        """Raises `FileRefused` for what is no path."""
        match place.kind:
            case "stored":
                return place.address
            case "relative":
                folder = encoded(self.rules.folder)
                return f"{await self.files.home()}{folder}{place.address}"
            case _ if climbs(url):
                raise FileMissing(f"There is no file {shown(url)!r} that you may use.")
            case _:
                raise FileRefused(f"{shown(url)!r} is no file that can be loaded. {POSSIBLE}")

    async def in_time(self, url: str, work: Coroutine[Any, Any, T]) -> T:
        try:
            async with asyncio.timeout(self.rules.seconds):
                return await work
        except TimeoutError as error:
            raise FileRefused(f"The file {shown(url)!r} could not be loaded in time.") from error


def key_of(url: str) -> str:
    """A key that holds nothing of a long address, or of the secrets in one."""
    return hashlib.sha256(url.strip().encode("utf-8", "replace")).hexdigest()


def last_segment(url: str) -> str:
    """The title of a file of that address."""
    try:
        return unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2]) or "file"
    except ValueError:
        return "file"
