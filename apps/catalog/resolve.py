"""From a slug or manifest to an application that can run: looked up and cached.

The cache keeps the version of the row and the predefined content; once in
`CATALOG_MAX_AGE_SECONDS` the database is asked whether both are still the newest.
"""

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import msgspec
from channels.db import database_sync_to_async
from django.conf import settings

from apps.aged_cache import AgedCache
from apps.catalog.application_files import managed
from apps.catalog.content import installed as content_installed
from apps.catalog.content.installed import installed, installed_now, refreshed_at
from apps.catalog.content.layers import Content
from apps.catalog.models import Application, ApplicationVersion
from apps.catalog.resolved_application import ResolvedApplication, prepare_application
from apps.catalog.versions import snapshots
from apps.catalog.versions.snapshots import content_of
from apps.errors import ApplicationNotFound
from apps.integers import read_integer

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(slots=True)
class CachedApplication:
    application: ResolvedApplication
    content: Content
    checked_at: float


@dataclass(frozen=True, slots=True)
class Lookup:
    task: asyncio.Task[ResolvedApplication]
    started_at: float


LARGEST_NUMBER = 999_999_999
"""The largest number of a version in a name."""
MOST_APPLICATIONS = 1024
"""Applications and versions that the cache holds; the least recently used one is evicted."""

_kept: OrderedDict[str, CachedApplication] = OrderedDict()
_absent: AgedCache[str, bool] = AgedCache()
"""Slugs that no enabled application has. DIAL Core asks with the same one for all that it keeps."""
_lookups: dict[Hashable, Lookup] = {}
"""The lookups in progress, by slug or by the key of a document."""


def forget() -> None:
    """Ask the database again for everything."""
    _kept.clear()
    _absent.clear()
    _documents.clear()
    content_installed.forget()
    managed.forget()
    snapshots.forget()


async def resolve(slug: str) -> ResolvedApplication:
    """An enabled application, no older than `CATALOG_MAX_AGE_SECONDS`.

    Raises `ApplicationNotFound`, `ApplicationBroken`.
    """
    kept = _kept.get(slug)
    now = time.monotonic()
    if kept is not None and now - kept.checked_at < settings.CATALOG_MAX_AGE_SECONDS:
        _kept.move_to_end(slug)
        return kept.application
    if kept is not None:
        kept.checked_at = now  # a burst asks the database once
    elif _absent.get(slug, settings.CATALOG_MAX_AGE_SECONDS):
        raise ApplicationNotFound(slug)
    elif _absent.get(slug):
        _absent.put(slug, True, now)
    return await share_lookup(slug, partial(look_up, slug, kept, now))


async def share_lookup(
    key: Hashable, start: Callable[[], Coroutine[Any, Any, ResolvedApplication]]
) -> ResolvedApplication:
    """Join the recent lookup of this key, or start one. It survives callers that are cancelled."""
    now = time.monotonic()
    lookup = _lookups.get(key)
    if (
        lookup is None
        or now - lookup.started_at >= settings.CATALOG_MAX_AGE_SECONDS
        or lookup.task.get_loop() is not asyncio.get_running_loop()
    ):
        lookup = _lookups[key] = Lookup(asyncio.create_task(start()), now)
        lookup.task.add_done_callback(partial(end_lookup, key))
    return await asyncio.shield(lookup.task)


def end_lookup(key: Hashable, task: asyncio.Task[ResolvedApplication]) -> None:
    if key in _lookups and _lookups[key].task is task:
        del _lookups[key]


async def look_up(slug: str, kept: CachedApplication | None, now: float) -> ResolvedApplication:
    """Raises `ApplicationNotFound`, `ApplicationBroken`."""
    try:
        found, content = await database_sync_to_async(newest)(slug, kept)
        # A large manifest takes longer to prepare than the event loop may wait.
        resolved: ResolvedApplication | None = (
            await asyncio.to_thread(prepared_version, found)
            if isinstance(found, LiveVersion)
            else found
        )
    except BaseException:
        _kept.pop(slug, None)
        raise
    if resolved is None:
        _kept.pop(slug, None)
        _absent.put(slug, True, now)
        raise ApplicationNotFound(slug)
    cached = CachedApplication(resolved, content, min(now, refreshed_at()))
    keep(_kept, slug, cached, MOST_APPLICATIONS)
    return resolved


def keep(cache: OrderedDict[K, V], key: K, value: V, most: int) -> None:
    cache[key] = value
    cache.move_to_end(key)
    while len(cache) > most:
        cache.popitem(last=False)


@dataclass(frozen=True, slots=True)
class LiveVersion:
    """A row with the manifest of one version, and the predefined content that it stands on."""

    row: Application
    number: int
    content: Content
    installed: Content


def newest(
    slug: str, kept: CachedApplication | None
) -> tuple[LiveVersion | ResolvedApplication | None, Content]:
    """The enabled row and the installed content; the cached application if both are unchanged."""
    managed.refresh()
    content = installed()
    name, number = versioned_name(slug)
    enabled = Application.objects.filter(slug=name, is_enabled=True)
    if kept is not None and kept.content is content:
        # A row that was deleted and made anew has another id, whatever its version.
        known = kept.application
        if enabled.values_list("pk", "version").first() == (known.id, known.version):
            return known, content
    row = enabled.first()
    return None if row is None else version_of(row, number, content), content


def versioned_name(slug: str) -> tuple[str, int | None]:
    """`("travel", 3)` for `travel@3`; None for the version that is live."""
    name, _, number = slug.partition("@")
    read = read_integer(number, LARGEST_NUMBER)
    return (slug, None) if read is None else (name, read)


def named_version(slug: str, number: int | None) -> str:
    """The name that `versioned_name` reads: `travel@3`, or `travel` for the live version."""
    return slug if number is None else f"{slug}@{number}"


def version_of(row: Application, number: int | None, content: Content) -> LiveVersion | None:
    """None for a version that there is not, or that was withdrawn."""
    numbered = ApplicationVersion.objects.filter(application=row.pk, withdrawn_at=None)
    wanted = row.live_number if number is None else number
    if number is None or number == row.live_number:
        found = numbered.filter(number=wanted).values_list("snapshot", flat=True).first()
        return LiveVersion(row, wanted, content_of(found, content), content)
    version = numbered.filter(number=wanted).first()
    if version is None:
        return None
    row.title, row.description = version.title, version.description
    row.manifest = version.document
    return LiveVersion(row, wanted, content_of(version.snapshot_id, content), content)


def prepared_version(found: LiveVersion) -> ResolvedApplication:
    """Raises `ApplicationBroken`."""
    return prepare_application(
        found.row, found.content, installed=found.installed, number=found.number
    )


MOST_DOCUMENTS = 256

_documents: OrderedDict[tuple[str, bytes], tuple[Content, ResolvedApplication]] = OrderedDict()


async def resolve_document(name: str, title: str, document: Any) -> ResolvedApplication:
    """An application of DIAL Core, which hands its manifest over with each request.

    There is no check of access: Core does that first. `document` is decoded JSON. Raises
    `ApplicationBroken`.
    """
    # A hash, so that no manifest with its secrets is kept twice.
    key = name, hashlib.sha256(msgspec.json.encode(document, order="deterministic")).digest()
    content = await installed_now()
    kept = _documents.get(key)
    if kept is not None and kept[0] is content:
        _documents.move_to_end(key)
        return kept[1]
    application = Application(slug=name, title=title, manifest=document)

    async def prepared() -> ResolvedApplication:
        resolved = await asyncio.to_thread(
            prepare_application, application, content, is_foreign=True
        )
        keep(_documents, key, (content, resolved), MOST_DOCUMENTS)
        return resolved

    return await share_lookup(key, prepared)
