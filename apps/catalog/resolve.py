"""From a name to an application that can run: looked up, checked, prepared, and kept.

A resolved application is kept in the process with the version of its row and the predefined
content that it was made of; whether both are still the newest is asked at most once in
`CATALOG_MAX_AGE_SECONDS`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings

from apps.capabilities.registry import Prepared, prepare
from apps.catalog.content.installed import installed, look_again, looked_at
from apps.catalog.content.layers import Content
from apps.catalog.content.references import Resolved, resolve_references
from apps.catalog.content.skills import installed_skills
from apps.catalog.models import Application
from apps.errors import ApplicationBroken, ApplicationNotFound, InitializationIssue
from apps.manifest.manifest import Manifest
from apps.manifest.problems import cut
from apps.manifest.skill_document import InstalledSkill
from apps.manifest.validation import ManifestInvalid, read
from apps.manifest.warnings import preview_problems

logger = logging.getLogger(__name__)

CONFIGURATION = "Application configuration"
"""The section of a report that tells of a manifest as a whole."""


@dataclass(frozen=True)
class ResolvedApplication:
    """An application that can be opened. `version` changes whenever its row is saved.

    One that DIAL Core keeps has no row: its `id` and `version` are 0, its `slug` is Core's name.
    """

    id: int
    slug: str
    title: str
    description: str
    is_public: bool
    version: int
    manifest: Manifest
    prepared: Prepared
    skills: tuple[InstalledSkill, ...] = ()
    """The predefined ones."""

    @property
    def is_ours(self) -> bool:
        """Whether an operator of this installation wrote it."""
        return bool(self.id)

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The request parameters that the manifest sets for its model."""
        return self.manifest.orchestrator.deployment.parameters.model_dump(exclude_none=True)


@dataclass(slots=True)
class Kept:
    application: ResolvedApplication
    content: Content
    checked_at: float


_kept: dict[str, Kept] = {}


def forget() -> None:
    """Ask the database again for everything."""
    _kept.clear()
    look_again()


async def resolve(slug: str) -> ResolvedApplication:
    """An enabled application, no older than `CATALOG_MAX_AGE_SECONDS`.

    Raises `ApplicationNotFound`, `ApplicationBroken`.
    """
    kept = _kept.get(slug)
    now = time.monotonic()
    if kept is not None and now - kept.checked_at < settings.CATALOG_MAX_AGE_SECONDS:
        return kept.application
    if kept is not None:
        kept.checked_at = now  # a burst asks the database once
    try:
        found, content = await database_sync_to_async(look)(slug, kept)
        resolved = prepare_application(found, content) if isinstance(found, Application) else found
    except BaseException:
        _kept.pop(slug, None)
        raise
    if resolved is None:
        _kept.pop(slug, None)
        raise ApplicationNotFound(slug)
    _kept[slug] = Kept(resolved, content, min(now, looked_at()))
    return resolved


def look(slug: str, kept: Kept | None) -> tuple[Application | ResolvedApplication | None, Content]:
    """What the name stands for now, and the content that is installed now."""
    content = installed()
    known = kept.application if kept is not None and kept.content is content else None
    return look_up(slug, known), content


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


def prepare_application(application: Application, content: Content) -> ResolvedApplication:
    """Raises `ApplicationBroken`."""
    manifest, prepared = prepare_document(application.slug, application.manifest, content)
    return ResolvedApplication(
        id=application.pk,
        slug=application.slug,
        title=application.title,
        description=application.description,
        is_public=application.is_public,
        version=application.version,
        manifest=manifest,
        prepared=prepared,
        skills=installed_skills(content),
    )


def prepare_document(
    name: str, document: Any, content: Content, *, is_foreign: bool = False
) -> tuple[Manifest, Prepared]:
    """Read a manifest, resolve its references and prepare its capabilities. One that others keep
    (`is_foreign`) cannot name or turn round secrets of ours.

    Raises `ApplicationBroken`, also without a prompt that it refers to: an agent that has lost
    its instructions must not answer.
    """
    try:
        manifest = read(
            document,
            preview=settings.ENABLE_PREVIEW_FEATURES,
            default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
            is_foreign=is_foreign,
        )
    except ManifestInvalid as error:
        lines = tuple(f"{problem.path}: {problem.message}" for problem in error.problems)
        raise ApplicationBroken(name, lines) from error
    resolved = resolve_references(
        manifest, content, preview=settings.ENABLE_PREVIEW_FEATURES, is_foreign=is_foreign
    )
    fatal = tuple(f"{p.path}: {p.sentence}" for p in resolved.problems if p.is_fatal)
    if fatal:
        raise ApplicationBroken(name, fatal)
    prepared = prepare_resolved(resolved)
    ignored = tuple(ignored_previews(name, document))
    # Who edits a manifest here was told; what others keep is told to those who use it.
    issues = (*prepared.issues, *ignored) if is_foreign else prepared.issues
    return resolved.manifest, replace(prepared, issues=issues)


def ignored_previews(name: str, document: dict[str, Any]) -> Iterator[InitializationIssue]:
    """What a manifest asks for in vain while preview features are off, told in the log too."""
    for problem in () if settings.ENABLE_PREVIEW_FEATURES else cut(preview_problems(document)):
        logger.warning("Application %s: %s %s", name, problem.path, problem.message)
        yield InitializationIssue(
            f"{problem.path}: {problem.message}.", section=CONFIGURATION, is_hard=False
        )


def prepare_resolved(resolved: Resolved) -> Prepared:
    """The capabilities of a manifest; what could not be resolved is told before their issues."""
    prepared = prepare(resolved.manifest)
    issues = (*(problem.issue for problem in resolved.problems), *prepared.issues)
    return replace(prepared, issues=issues)
