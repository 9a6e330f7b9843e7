"""Defines what all loaders of a run share: the rules that determine which URLs may be loaded, and
the cache of loaded files.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, TypeVar
from urllib.parse import unquote

from django.conf import settings

from apps.manifest.contexts import UserDefinedContext
from apps.manifest.manifest import Manifest
from apps.workspace.egress.fetch_policy import FetchPolicy
from apps.workspace.loading.file_locations import ROOT, locate_file
from apps.workspace.loading.files import LoadedFile
from apps.workspace.stored_files import FileInfo

T = TypeVar("T")


@dataclass(slots=True)
class Flight(Generic[T]):
    task: asyncio.Task[T]
    waiting: int = 0


class SingleFlightCache(Generic[T]):
    """Caches results by key. Concurrent callers with the same key share one task.

    `size` returns the size of a result. The least recently used results are evicted when the total
    size exceeds `capacity`. A failure is raised to all waiting callers and is not cached. When the
    last waiting caller is canceled, the task is canceled.
    """

    def __init__(self, capacity: int, size: Callable[[T], int]) -> None:
        self.capacity = capacity
        self.size = size
        self.results: dict[str, T] = {}
        self.used = 0
        self.flights: dict[str, Flight[T]] = {}

    async def get(self, key: str, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if key in self.results:
            found = self.results[key] = self.results.pop(key)
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
        if size > self.capacity:
            return
        self.results[key] = result
        self.used += size
        while self.used > self.capacity:
            oldest = next(iter(self.results))
            self.used -= self.size(self.results.pop(oldest))

    def forget(self, is_stale: Callable[[T], bool]) -> None:
        self.flights.clear()  # A pending result may be stale too, so it is not cached.
        for key in [key for key, result in self.results.items() if is_stale(result)]:
            self.used -= self.size(self.results.pop(key))


@dataclass(frozen=True, slots=True)
class LoadingRules:
    limit: int
    """The maximum size of a file in bytes."""
    seconds: float
    """The timeout for loading a file."""
    policy: FetchPolicy = field(default_factory=FetchPolicy)
    folder: str = ""
    """The folder in the caller's home to which relative paths refer: "" for the home itself, or a
    path that ends with a slash.
    """
    trusted: tuple[str, ...] = ()
    """The URLs and paths in the manifest, which are trusted. Paths of folders end with a slash.
    """
    document_limit: int = 0
    """The maximum size in bytes of a stored document whose text is searched or extracted."""

    def trusts(self, address: str) -> bool:
        folders = (one for one in self.trusted if one.startswith(ROOT) and one.endswith("/"))
        return address in self.trusted or any(map(address.startswith, folders))


def installation_rules() -> LoadingRules:
    limit = int(settings.DEFAULT_FILE_LOADING_SIZE_LIMIT)
    return LoadingRules(
        limit,
        float(settings.DEFAULT_TOOL_TIMEOUT_SECONDS),
        document_limit=max(limit, int(settings.CHAT_UPLOAD_MAX_BYTES)),
    )


def rules_of(manifest: Manifest) -> LoadingRules:
    """Return the rules for loading files in an application. The manifest may change the
    installation's rules.
    """
    usual, features = installation_rules(), manifest.features
    seconds = manifest.tool_defaults.timeout_seconds or usual.seconds
    named = (one.url for one in manifest.contexts if not isinstance(one, UserDefinedContext))
    trusted = tuple(unquote(locate_file(url).address) for url in named)
    if features is None:
        return replace(usual, seconds=seconds, trusted=trusted)
    fetching, kept = features.external_url_fetch, features.dial_files
    own_limit = features.file_loading.size_limit
    return LoadingRules(
        own_limit or usual.limit,
        seconds,
        FetchPolicy(fetching.enabled, fetching.host_allowlist),
        kept.agent_home_dir if kept is not None else "",
        trusted,
        own_limit or usual.document_limit,
    )


CACHE_BYTES = 32 * 1024 * 1024
"""The limit in bytes for all files that a run caches."""
MOST_PROMOTED = 1000
CONCURRENT_LOADS = 8


@dataclass(frozen=True)
class Loading:
    """The rules for loading files in a run, and the files that the run has loaded so far. All
    loaders of the run share them.
    """

    rules: LoadingRules = field(default_factory=installation_rules)

    # Created at first use, because most runs load nothing.
    @cached_property
    def loads(self) -> SingleFlightCache[LoadedFile]:
        return SingleFlightCache(CACHE_BYTES, lambda file: len(file.content))

    @cached_property
    def promotions(self) -> SingleFlightCache[FileInfo]:
        return SingleFlightCache(MOST_PROMOTED, lambda info: 1)

    @cached_property
    def turns(self) -> asyncio.Semaphore:
        return asyncio.Semaphore(CONCURRENT_LOADS)
