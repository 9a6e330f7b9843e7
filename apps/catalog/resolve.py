"""From a name to an application that can run: looked up, checked, prepared, and kept.

A resolved application is kept in the process under the version of its row; whether that version
is still the newest is asked at most once in `CATALOG_MAX_AGE_SECONDS`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings

from apps.capabilities.registry import Prepared, prepare
from apps.catalog.models import Application
from apps.errors import ApplicationBroken, ApplicationNotFound
from apps.manifest.manifest import Manifest
from apps.manifest.reading import ManifestInvalid, read


@dataclass(frozen=True)
class ResolvedApplication:
    """An application that can be opened. `version` changes whenever its row is saved."""

    id: int
    slug: str
    title: str
    description: str
    is_public: bool
    version: int
    manifest: Manifest
    prepared: Prepared

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The request parameters that the manifest sets for its model."""
        return self.manifest.orchestrator.deployment.parameters.model_dump(exclude_none=True)

    def max_iterations(self, default: int) -> int:
        orchestrator = self.manifest.orchestrator
        is_set = "max_iterations" in orchestrator.model_fields_set
        return orchestrator.max_iterations if is_set else default


@dataclass(slots=True)
class Kept:
    application: ResolvedApplication
    checked_at: float


_kept: dict[str, Kept] = {}


async def resolve(slug: str) -> ResolvedApplication:
    """An enabled application, no older than `CATALOG_MAX_AGE_SECONDS`.

    Raises `ApplicationNotFound`, `ApplicationBroken`.
    """
    kept = _kept.get(slug)
    now = time.monotonic()
    if kept is not None and now - kept.checked_at < settings.CATALOG_MAX_AGE_SECONDS:
        return kept.application
    known = None
    if kept is not None:
        known, kept.checked_at = kept.application, now  # a burst asks the database once
    try:
        found = await database_sync_to_async(look_up)(slug, known)
        resolved = prepare_application(found) if isinstance(found, Application) else found
    except BaseException:
        _kept.pop(slug, None)
        raise
    if resolved is None:
        _kept.pop(slug, None)
        raise ApplicationNotFound(slug)
    _kept[slug] = Kept(resolved, now)
    return resolved


def look_up(
    slug: str, known: ResolvedApplication | None
) -> Application | ResolvedApplication | None:
    """The row as it is now; `known` itself when it still is the newest.

    A name that was deleted and made anew is another application, whatever its version.
    """
    if "\0" in slug:  # PostgreSQL refuses to look for it
        return None
    enabled = Application.objects.filter(slug=slug, is_enabled=True)
    newest = enabled.values_list("pk", "version").first() if known is not None else None
    if known is not None and newest == (known.id, known.version):
        return known
    return enabled.first()


def prepare_application(application: Application) -> ResolvedApplication:
    """Read the manifest and prepare its capabilities. Raises `ApplicationBroken`."""
    try:
        manifest = read(
            application.manifest,
            preview=settings.ENABLE_PREVIEW_FEATURES,
            default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
        )
    except ManifestInvalid as error:
        lines = tuple(f"{problem.path}: {problem.message}" for problem in error.problems)
        raise ApplicationBroken(application.slug, lines) from error
    return ResolvedApplication(
        id=application.pk,
        slug=application.slug,
        title=application.title,
        description=application.description,
        is_public=application.is_public,
        version=application.version,
        manifest=manifest,
        prepared=prepare(manifest),
    )
