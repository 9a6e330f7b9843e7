"""From a slug or manifest to an application that can run: looked up, checked, prepared, and cached.

The cache keeps the version of the row and the predefined content; once in
`CATALOG_MAX_AGE_SECONDS` the database is asked whether both are still the newest.
"""

import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import msgspec
from channels.db import database_sync_to_async
from django.conf import settings

from apps.aged_cache import AgedCache
from apps.capabilities.registry import Prepared, prepare
from apps.catalog.application_files import managed
from apps.catalog.application_files.own_skills import skills_of, with_own_skills
from apps.catalog.content import installed as content_installed
from apps.catalog.content.agents import installed_agents
from apps.catalog.content.chat_places import installed_places
from apps.catalog.content.installed import installed, installed_now, refreshed_at
from apps.catalog.content.layers import Content
from apps.catalog.content.prompts import broken_prompts, installed_prompts
from apps.catalog.content.references import resolve_references
from apps.catalog.content.skills import installed_skills
from apps.catalog.models import Application, ApplicationVersion
from apps.catalog.versions import snapshots
from apps.catalog.versions.snapshots import content_of
from apps.errors import (
    ApplicationBroken,
    ApplicationNotFound,
    InitializationIssue,
    PlaceNotFound,
)
from apps.manifest.agent_definition import AgentDefinition
from apps.manifest.chat_place import ChatPlace
from apps.manifest.manifest import Manifest
from apps.manifest.problems import cut
from apps.manifest.skill_document import InstalledSkill
from apps.manifest.validation import ManifestInvalid, read
from apps.manifest.warnings import preview_problems
from apps.workspace.loading.shared_loads import Rules, rules_of

logger = logging.getLogger(__name__)

CONFIGURATION = "Application configuration"
"""The section of a report for issues of the manifest as a whole."""


@dataclass(frozen=True)
class ResolvedApplication:
    """An application that can be opened. `version` changes whenever its row is saved.

    `number` is that of the published version, 0 for a draft. Applications of DIAL Core have no row:
    `id`, `version` and `number` are 0, `slug` is Core's name. `skills`, `prompts` and `agents` are
    the predefined ones of the version; `places`, `layer_prompts` and `broken_prompts`, which are
    what is wrong with those that cannot be used, are those installed now.
    """

    id: int
    slug: str
    title: str
    description: str
    is_public: bool
    version: int
    manifest: Manifest
    prepared: Prepared
    number: int = 0
    skills: tuple[InstalledSkill, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=dict, repr=False)
    layer_prompts: Mapping[str, str] = field(default_factory=dict, repr=False)
    broken_prompts: Mapping[str, str] = field(default_factory=dict, repr=False)
    places: Mapping[str, ChatPlace] = field(default_factory=dict, repr=False)
    agents: Mapping[str, AgentDefinition] = field(default_factory=dict, repr=False)
    document: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The manifest as it was written."""

    @cached_property
    def digest(self) -> str:
        """The same for the same document."""
        return hashlib.sha256(msgspec.json.encode(self.document, order="deterministic")).hexdigest()

    def place(self, slug: str) -> ChatPlace | None:
        """The place that a request names, None for "". Raises `PlaceNotFound`."""
        if not slug:
            return None
        if slug not in self.places:
            raise PlaceNotFound(slug)
        return self.places[slug]

    @property
    def is_ours(self) -> bool:
        return bool(self.id)

    @cached_property
    def deployment_id(self) -> str:
        """The deployment of the model that answers."""
        return self.manifest.orchestrator.deployment.id

    @cached_property
    def client_parameters(self) -> frozenset[str]:
        """The request parameters that the manifest allows a client besides the usual ones."""
        return self.manifest.orchestrator.client.parameters

    @cached_property
    def loading_rules(self) -> Rules:
        return rules_of(self.manifest)

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The request parameters that the manifest sets for its model."""
        return self.manifest.orchestrator.deployment.parameters.model_dump(exclude_none=True)


@dataclass(slots=True)
class CachedApplication:
    application: ResolvedApplication
    content: Content
    checked_at: float


LONGEST_NUMBER = 9
"""Digits of the number of a version in a name."""

_kept: dict[str, CachedApplication] = {}
_absent: AgedCache[str, bool] = AgedCache()
"""Slugs that no enabled application has. DIAL Core asks with the same one for all that it keeps."""


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
        return kept.application
    if kept is not None:
        kept.checked_at = now  # a burst asks the database once
    elif _absent.get(slug, settings.CATALOG_MAX_AGE_SECONDS):
        raise ApplicationNotFound(slug)
    elif _absent.get(slug):
        _absent.put(slug, True, now)
    try:
        found, content = await database_sync_to_async(newest)(slug, kept)
        resolved = prepared_version(found) if isinstance(found, LiveVersion) else found
    except BaseException:
        _kept.pop(slug, None)
        raise
    if resolved is None:
        _kept.pop(slug, None)
        _absent.put(slug, True, now)
        raise ApplicationNotFound(slug)
    _kept[slug] = CachedApplication(resolved, content, min(now, refreshed_at()))
    return resolved


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
    if "\0" in slug:  # PostgreSQL refuses to look for it
        return None, content
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
    is_number = number.isascii() and number.isdecimal() and len(number) <= LONGEST_NUMBER
    return (name, int(number)) if is_number else (slug, None)


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


def prepare_application(
    application: Application,
    content: Content,
    *,
    installed: Content | None = None,
    number: int = 0,
    is_foreign: bool = False,
) -> ResolvedApplication:
    """The row with its references resolved in `content`, which is `installed` unless that is given.

    `is_foreign`: DIAL Core keeps the application, which is not saved here. Raises
    `ApplicationBroken`.
    """
    installed = installed or content
    manifest, prepared = prepare_document(
        application.slug, application.manifest, content, is_foreign=is_foreign
    )
    return ResolvedApplication(
        id=application.pk or 0,
        slug=application.slug,
        title=application.title,
        description=application.description,
        is_public=application.is_public,
        version=application.version,
        number=number,
        manifest=manifest,
        prepared=prepared,
        skills=installed_skills(content),
        prompts=installed_prompts(content),
        layer_prompts=installed_prompts(installed),
        broken_prompts=broken_prompts(installed),
        places=installed_places(installed),
        agents=installed_agents(content),
        document=application.manifest,
    )


def prepare_version(application: Application, number: int) -> ResolvedApplication:
    """The row as it is given, on the predefined content of one of its versions.

    Queries the database. Raises `ApplicationBroken`.
    """
    content = installed()
    versions = ApplicationVersion.objects.filter(application=application.pk, number=number)
    snapshot = versions.values_list("snapshot", flat=True).first()
    pinned = content_of(snapshot, content)
    return prepare_application(application, pinned, installed=content, number=number)


def resolve_draft(application: Application, document: Any) -> ResolvedApplication:
    """The application with a document that is not published, on the content installed now.

    Queries the database. Raises `ApplicationBroken`.
    """
    draft = copy(application)
    draft.manifest = document
    content = installed()
    own = with_own_skills(content, skills_of(application.pk))
    return prepare_application(draft, own, installed=content)


def prepare_document(
    name: str, document: Any, content: Content, *, is_foreign: bool
) -> tuple[Manifest, Prepared]:
    """Read a manifest, resolve its references and prepare its capabilities.

    A foreign manifest can neither name our secrets nor change where they are sent. Raises
    `ApplicationBroken`.
    """
    try:
        manifest = read(
            document,
            preview=settings.ENABLE_PREVIEW_FEATURES,
            default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
            is_foreign=is_foreign,
        )
    except ManifestInvalid as error:
        raise ApplicationBroken(name, tuple(map(str, error.problems))) from error
    resolved = resolve_references(
        manifest, content, preview=settings.ENABLE_PREVIEW_FEATURES, is_foreign=is_foreign
    )
    # An agent without its instructions must not answer.
    fatal = tuple(f"{p.path}: {p.sentence}" for p in resolved.problems if p.is_fatal)
    if fatal:
        raise ApplicationBroken(name, fatal)
    prepared = prepare(resolved.manifest)
    issues = (*(problem.issue for problem in resolved.problems), *prepared.issues)
    ignored = tuple(ignored_previews(name, document))
    # The admin shows ignored features to the editors of our own manifests; foreign ones have no
    # other place for them than the chat.
    issues = (*issues, *ignored) if is_foreign else issues
    return resolved.manifest, replace(prepared, issues=issues)


def ignored_previews(name: str, document: dict[str, Any]) -> Iterator[InitializationIssue]:
    """An issue and a log line for each preview feature in a manifest while they are off."""
    for problem in () if settings.ENABLE_PREVIEW_FEATURES else cut(preview_problems(document)):
        logger.warning("Application %s: %s %s", name, problem.path, problem.message)
        yield InitializationIssue(f"{problem}.", section=CONFIGURATION, is_hard=False)


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
    resolved = prepare_application(application, content, is_foreign=True)
    _documents[key] = content, resolved
    while len(_documents) > MOST_DOCUMENTS:
        _documents.popitem(last=False)
    return resolved
