"""Load files by their address during one run: each is loaded once and kept while there is room."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar
from urllib.parse import unquote, urlsplit

from django.conf import settings

from apps.errors import FileMissing, FileRefused
from apps.manifest.manifest import Manifest
from apps.workspace.egress.fetch import fetch, shown
from apps.workspace.egress.fetch_policy import FetchPolicy
from apps.workspace.loading.files import Loaded, check_size, read_data_uri
from apps.workspace.loading.places import Place, climbs, encoded, place_of
from apps.workspace.port import FileInfo, Files


@dataclass(frozen=True, slots=True)
class Rules:
    """`limit` is the bytes of one file, `seconds` the time to load it.

    Relative paths start at `folder`, a path below the caller's home: "" or one ending in a slash.
    """

    limit: int
    seconds: float
    policy: FetchPolicy = field(default_factory=FetchPolicy)
    folder: str = ""


def installation_rules() -> Rules:
    return Rules(
        int(settings.DEFAULT_FILE_LOADING_SIZE_LIMIT), float(settings.DEFAULT_TOOL_TIMEOUT_SECONDS)
    )


def rules_of(manifest: Manifest) -> Rules:
    """The installation's rules with the application's changes."""
    usual, features = installation_rules(), manifest.features
    seconds = manifest.tool_defaults.timeout_seconds or usual.seconds
    if features is None:
        return Rules(usual.limit, seconds)
    wished, kept = features.external_url_fetch, features.dial_files
    return Rules(
        features.file_loading.size_limit or usual.limit,
        seconds,
        FetchPolicy(wished.enabled, wished.host_allowlist),
        kept.agent_home_dir if kept is not None else "",
    )


T = TypeVar("T")

KEPT_BYTES = 32 * 1024 * 1024
"""Files that one run keeps in memory."""
MOST_PROMOTED = 1000
CONCURRENT_LOADS = 8
POSSIBLE = "Possible are paths of files (files/…) and http(s) URLs."


@dataclass(frozen=True, slots=True)
class Loading:
    """Shared by all loaders of a run: its rules and the files loaded so far."""

    rules: Rules = field(default_factory=installation_rules)
    loads: SingleFlightCache[Loaded] = field(
        default_factory=lambda: SingleFlightCache(KEPT_BYTES, lambda file: len(file.content))
    )
    promotions: SingleFlightCache[FileInfo] = field(
        default_factory=lambda: SingleFlightCache(MOST_PROMOTED, lambda info: 1)
    )
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(CONCURRENT_LOADS))


@dataclass(frozen=True, slots=True)
class Loader:
    files: Files
    loading: Loading

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

    async def bring(self, url: str) -> Loaded:
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
        return Loaded(last_segment(info.path), info.content_type, found.content, info.path)

    async def store(self, url: str) -> FileInfo:
        place = place_of(url)
        if place.kind in {"external", "data"}:
            return await self.keep(await self.take(url))
        info = await self.in_time(url, self.look_up(url, place))
        check_size(info.size, self.rules.limit)
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
    try:
        return unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2]) or "file"
    except ValueError:
        return "file"


@dataclass(slots=True)
class Flight(Generic[T]):
    task: asyncio.Task[T]
    waiting: int = 0


class SingleFlightCache(Generic[T]):
    """Results by key; concurrent callers of one key share one task.

    Keeps at most `room`, measured by `size`; the least recently used result goes first. A failure
    is raised to all waiting callers and not kept. Work is cancelled when its last caller leaves.
    """

    def __init__(self, room: int, size: Callable[[T], int]) -> None:
        self.room = room
        self.size = size
        self.kept: dict[str, T] = {}
        self.used = 0
        self.flights: dict[str, Flight[T]] = {}

    async def get(self, key: str, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if key in self.kept:
            found = self.kept[key] = self.kept.pop(key)
            return found
        flight = self.flights.get(key)
        if flight is None:
            flight = self.flights[key] = Flight(asyncio.create_task(make()))
        flight.waiting += 1
        try:
            result = await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if flight.task.done() or not flight.waiting:
                flight.task.cancel()
                self.land(key, flight)
        return result

    def land(self, key: str, flight: Flight[T]) -> None:
        if self.flights.get(key) is not flight:
            return
        del self.flights[key]
        task = flight.task
        if task.done() and not task.cancelled() and task.exception() is None:
            self.keep(key, task.result())

    def keep(self, key: str, result: T) -> None:
        size = self.size(result)
        if size > self.room:
            return
        self.kept[key] = result
        self.used += size
        while self.used > self.room:
            oldest = next(iter(self.kept))
            self.used -= self.size(self.kept.pop(oldest))

    def forget(self, is_stale: Callable[[T], bool]) -> None:
        self.flights.clear()  # a result on its way may be stale too, so it is not kept
        for key in [key for key, result in self.kept.items() if is_stale(result)]:
            self.used -= self.size(self.kept.pop(key))
