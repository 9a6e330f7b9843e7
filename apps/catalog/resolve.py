"""Resolves a slug or a manifest to an application that can run, and caches the result. `find` also
checks that the caller may use the application.

A cached application is valid until its row or the predefined content changes. Both are checked at
most once per `MAX_AGE_SECONDS`.
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

from apps import process_state
from apps.accounts.caller import Caller, widget_visitor
from apps.catalog.access import reachable_rows, usable
from apps.catalog.application_files import managed_files
from apps.catalog.content import installed as content_installed
from apps.catalog.content.installed import installed_content, installed_now, refreshed_at
from apps.catalog.content.layers import Content
from apps.catalog.models import Application, ApplicationVersion, Role
from apps.catalog.resolved_application import ResolvedApplication, prepare_application
from apps.catalog.versions import snapshots
from apps.catalog.versions.snapshots import snapshot_content
from apps.errors import ApplicationBroken, ApplicationNotFound
from apps.integers import read_integer
from apps.process_state import AgedCache, on_reset

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
"""The highest version number in a slug such as `travel@3`."""
MOST_APPLICATIONS = 1024
"""The maximum number of cached applications and versions. The least recently used is evicted."""

_kept: OrderedDict[str, CachedApplication] = OrderedDict()
_absent: AgedCache[str, bool] = AgedCache()
"""Slugs for which no enabled application was found recently. They are cached because DIAL Core
sends the same unknown slug for all applications that it stores.
"""
_lookups: dict[Hashable, Lookup] = {}
"""The lookups that are in progress, by slug or by the hash of a manifest."""


@on_reset
def forget_applications() -> None:
    """Empty all caches of applications and predefined content."""
    _kept.clear()
    _absent.clear()
    _documents.clear()
    content_installed.forget_content()
    managed_files.forget_files()
    snapshots.forget_snapshots()


async def find(slug: str, caller: Caller) -> ResolvedApplication:
    """Return the application with this slug. A slug such as `travel@3`, or an API key that is
    pinned to a version, selects that version.

    Raises `ApplicationNotFound` if the application does not exist or the caller may not use it, and
    `ApplicationBroken` if its manifest is invalid.
    """
    slug = slug if caller.limits.version is None else bind_version(slug, caller.limits.version)
    try:
        application = await resolve_application(slug)
    except ApplicationBroken:
        if not await usable(caller).filter(slug=versioned_name(slug)[0]).aexists():
            raise ApplicationNotFound(slug) from None
        raise
    if not await may_use(application, caller):
        raise ApplicationNotFound(slug)
    return application


def bind_version(slug: str, version: int) -> str:
    """Append a version number to the slug, for an API key that is pinned to that version. Raises
    `ApplicationNotFound` if the slug already names a different version.
    """
    name, number = versioned_name(slug)
    if number not in (None, version):
        raise ApplicationNotFound(slug)
    return f"{name}@{version}"


async def may_use(application: ResolvedApplication, caller: Caller) -> bool:
    if caller.principal is not None:
        rows = Application.objects.filter(pk=application.id, is_enabled=True)
        if caller.limits.scope is not None:
            rows = rows.filter(pk__in=caller.limits.scope)
        return await reachable_rows(caller.principal, caller.team, Role.USER, rows).aexists()
    if caller.kind == "visitor":  # These callers need no query.
        guest = widget_visitor(caller.bucket)
        if guest is None:
            return application.is_public
        is_open = application.is_public or guest.is_identified
        return is_open and guest.application == application.id
    return caller.limits.include(application.id)


async def resolve_application(slug: str) -> ResolvedApplication:
    """Return the enabled application with this slug. The application is cached, and compared with
    the database at most once per `MAX_AGE_SECONDS`.

    Raises `ApplicationNotFound`, or `ApplicationBroken` if its manifest is invalid.
    """
    kept = _kept.get(slug)
    now = time.monotonic()
    if kept is not None and now - kept.checked_at < process_state.MAX_AGE_SECONDS:
        _kept.move_to_end(slug)
        return kept.application
    if kept is not None:
        kept.checked_at = now  # A burst of requests runs only one query.
    elif _absent.get(slug, process_state.MAX_AGE_SECONDS):
        raise ApplicationNotFound(slug)
    elif _absent.get(slug):
        _absent.put(slug, True, now)
    return await share_lookup(slug, partial(look_up, slug, kept, now))


async def share_lookup(
    key: Hashable, start: Callable[[], Coroutine[Any, Any, ResolvedApplication]]
) -> ResolvedApplication:
    """Wait for the lookup in progress for this key, or start one. The lookup continues if a waiting
    caller is canceled.
    """
    now = time.monotonic()
    lookup = _lookups.get(key)
    if (
        lookup is None
        or now - lookup.started_at >= process_state.MAX_AGE_SECONDS
        or lookup.task.get_loop() is not asyncio.get_running_loop()
    ):
        lookup = _lookups[key] = Lookup(asyncio.create_task(start()), now)
        lookup.task.add_done_callback(partial(end_lookup, key))
    return await asyncio.shield(lookup.task)


def end_lookup(key: Hashable, task: asyncio.Task[ResolvedApplication]) -> None:
    if key in _lookups and _lookups[key].task is task:
        del _lookups[key]


async def look_up(slug: str, kept: CachedApplication | None, now: float) -> ResolvedApplication:
    """Load and prepare the application, or return the cached application `kept` if it is current.
    Raises `ApplicationNotFound`, or `ApplicationBroken` if its manifest is invalid.
    """
    try:
        found, content = await database_sync_to_async(newest)(slug, kept)
        # Preparing a large manifest would block the event loop for too long.
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
    cache_value(_kept, slug, cached, MOST_APPLICATIONS)
    return resolved


def cache_value(cache: OrderedDict[K, V], key: K, value: V, most: int) -> None:
    cache[key] = value
    cache.move_to_end(key)
    while len(cache) > most:
        cache.popitem(last=False)


@dataclass(frozen=True, slots=True)
class LiveVersion:
    """An application with the manifest and the predefined content of one version."""

    row: Application
    number: int
    content: Content
    installed: Content


def newest(
    slug: str, kept: CachedApplication | None
) -> tuple[LiveVersion | ResolvedApplication | None, Content]:
    """Return the version to prepare, and the installed content. If nothing has changed, return the
    cached application instead of a version. If there is no enabled application, return None.
    """
    managed_files.refresh()
    content = installed_content()
    name, number = versioned_name(slug)
    enabled = Application.objects.filter(slug=name, is_enabled=True)
    if kept is not None and kept.content is content:
        # A row that was deleted and created again has another ID, but its version may be the same.
        known = kept.application
        if enabled.values_list("pk", "version").first() == (known.id, known.version):
            return known, content
    row = enabled.first()
    return None if row is None else find_version(row, number, content), content


def versioned_name(slug: str) -> tuple[str, int | None]:
    """Split `travel@3` into its slug and version number. For `travel`, the number is None, which
    means the live version.
    """
    name, mark, number = slug.partition("@")
    read = read_integer(number, LARGEST_NUMBER) if mark else None
    return (slug, None) if read is None else (name, read)


def named_version(slug: str, number: int | None) -> str:
    """Return a name such as `travel@3`, or the slug alone if the number is None."""
    return slug if number is None else f"{slug}@{number}"


def find_version(row: Application, number: int | None, content: Content) -> LiveVersion | None:
    """Return the version with this number, or the live version if the number is None. Return None
    if the version does not exist or was withdrawn.
    """
    numbered = ApplicationVersion.objects.filter(application=row.pk, withdrawn_at=None)
    wanted = row.live_number if number is None else number
    if number is None or number == row.live_number:
        found = numbered.filter(number=wanted).values_list("snapshot", flat=True).first()
        return LiveVersion(row, wanted, snapshot_content(found, content), content)
    version = numbered.filter(number=wanted).first()
    if version is None:
        return None
    row.title, row.description = version.title, version.description
    row.manifest = version.document
    return LiveVersion(row, wanted, snapshot_content(version.snapshot_id, content), content)


def prepared_version(found: LiveVersion) -> ResolvedApplication:
    """Resolve the version's references and prepare its capabilities. Raises `ApplicationBroken` if
    its manifest is invalid.
    """
    return prepare_application(
        found.row, found.content, installed=found.installed, number=found.number
    )


MOST_DOCUMENTS = 256

_documents: OrderedDict[tuple[str, bytes], tuple[Content, ResolvedApplication]] = OrderedDict()


async def resolve_document(name: str, title: str, document: Any) -> ResolvedApplication:
    """Resolve an application that DIAL Core stores. `document` is its manifest, which Core sends
    with each request.

    Core has already checked the caller's access. Raises `ApplicationBroken` if the manifest is
    invalid.
    """
    # The key is a hash, so that the cache contains no second copy of a manifest with its secrets.
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
        cache_value(_documents, key, (content, resolved), MOST_DOCUMENTS)
        return resolved

    return await share_lookup(key, prepared)
