"""Prepares applications to run: parses their manifests, and resolves references and capabilities."""

import hashlib
import logging
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import msgspec
from django.conf import settings

from apps.capabilities.preparation import prepare
from apps.capabilities.registry import PredefinedContent, PreparedCapabilities
from apps.catalog.content.agents import installed_agents
from apps.catalog.content.chat_places import installed_places
from apps.catalog.content.installed import installed_content
from apps.catalog.content.layers import Content
from apps.catalog.content.prompts import broken_prompts, installed_prompts
from apps.catalog.content.references import resolve_references
from apps.catalog.content.skills import installed_skills
from apps.catalog.models import Application
from apps.catalog.own_skills import Skills, own_skills_of, with_own_skills
from apps.catalog.versions.snapshots import content_of_version
from apps.errors import ApplicationBroken, InitializationIssue, PlaceNotFound
from apps.manifest.manifest import Manifest
from apps.manifest.markdown.chat_place import ChatPlace
from apps.manifest.problems import cut_problems
from apps.manifest.validation.validation import ManifestInvalid, read_manifest
from apps.manifest.validation.warnings import preview_problems
from apps.workspace.loading.shared_loads import LoadingRules, rules_of

logger = logging.getLogger(__name__)

CONFIGURATION = "Application configuration"
"""The heading for issues that concern the whole manifest."""


@dataclass(frozen=True)
class ResolvedApplication:
    """An application that can run.

    For an application from DIAL Core, which has no row, `slug` is Core's name, and `id`, `version`
    and `number` are 0.
    """

    id: int
    slug: str
    title: str
    description: str
    is_public: bool
    version: int
    """Changes whenever the application's row is saved."""
    manifest: Manifest
    prepared: PreparedCapabilities
    number: int = 0
    """The number of the published version, or 0 for a draft."""
    predefined: PredefinedContent = field(default_factory=PredefinedContent)
    """The predefined content of the version, with the installed chat places."""
    layer_prompts: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The prompts in the installed content."""
    broken_prompts: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The problem with each unusable prompt in the installed content."""
    document: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The manifest as its author wrote it."""

    @cached_property
    def digest(self) -> str:
        """Return a hash of the manifest. Equal manifests have equal hashes."""
        return hashlib.sha256(msgspec.json.encode(self.document, order="deterministic")).hexdigest()

    def place(self, slug: str) -> ChatPlace | None:
        """Return the chat place with this slug, or None if it is "". Raises `PlaceNotFound` if
        there is none.
        """
        if not slug:
            return None
        if slug not in self.predefined.places:
            raise PlaceNotFound(slug)
        return self.predefined.places[slug]

    @property
    def is_ours(self) -> bool:
        return bool(self.id)

    @cached_property
    def deployment_id(self) -> str:
        return self.manifest.orchestrator.deployment.id

    @cached_property
    def client_parameters(self) -> frozenset[str]:
        """Return the model parameters that clients may set in addition to the standard ones."""
        return self.manifest.orchestrator.client.parameters

    @cached_property
    def loading_rules(self) -> LoadingRules:
        return rules_of(self.manifest)

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """Return the model parameters that the manifest sets."""
        return self.manifest.orchestrator.deployment.parameters.model_dump(exclude_none=True)


def prepare_application(
    application: Application,
    content: Content,
    *,
    installed: Content | None = None,
    number: int = 0,
    is_foreign: bool = False,
) -> ResolvedApplication:
    """Prepare an application to run, with its references resolved in `content`. Chat places come
    from `installed`, which defaults to `content`.

    With `is_foreign`, DIAL Core stores the manifest. Raises `ApplicationBroken` if the manifest is
    invalid.
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
        predefined=PredefinedContent(
            installed_skills(content),
            installed_prompts(content),
            installed_places(installed),
            installed_agents(content),
        ),
        layer_prompts=installed_prompts(installed),
        broken_prompts=broken_prompts(installed),
        document=application.manifest,
    )


def prepare_version(application: Application, number: int) -> ResolvedApplication:
    """Prepare the application to run with its current values and the predefined content of its
    version `number`.

    Queries the database. Raises `ApplicationBroken` if the manifest is invalid.
    """
    content = installed_content()
    pinned = content_of_version(application, number, content)
    return prepare_application(application, pinned, installed=content, number=number)


def resolve_draft(
    application: Application, document: Any, skills: Skills | None = None
) -> ResolvedApplication:
    """Prepare the application to run with `document` as its manifest, the current predefined
    content, and its own `skills`. For `skills`, None means the stored skills.

    Queries the database. Raises `ApplicationBroken` if the manifest is invalid.
    """
    draft = copy(application)
    draft.manifest = document
    content = installed_content()
    own = with_own_skills(content, own_skills_of(application, skills))
    return prepare_application(draft, own, installed=content)


def prepare_document(
    name: str, document: Any, content: Content, *, is_foreign: bool
) -> tuple[Manifest, PreparedCapabilities]:
    """Parse a manifest, resolve its references and prepare its capabilities.

    With `is_foreign`, DIAL Core stores the manifest. Such a manifest cannot refer to this
    installation's secrets, or redirect credentials of predefined content to other servers. Raises
    `ApplicationBroken` if the manifest is invalid or its prompt does not exist.
    """
    try:
        manifest = read_manifest(
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
    # An agent must not run without its instructions.
    fatal = tuple(f"{p.path}: {p.sentence}" for p in resolved.problems if p.is_fatal)
    if fatal:
        raise ApplicationBroken(name, fatal)
    prepared = prepare(resolved.manifest)
    issues = (*(problem.issue for problem in resolved.problems), *prepared.issues)
    ignored = tuple(ignored_previews(name, document))
    # The admin shows the ignored features of this installation's manifests. For foreign manifests,
    # only the chat can show them.
    issues = (*issues, *ignored) if is_foreign else issues
    return resolved.manifest, replace(prepared, issues=issues)


def ignored_previews(name: str, document: dict[str, Any]) -> Iterator[InitializationIssue]:
    """Yield and log an issue for each preview feature in a manifest, unless preview features are
    enabled.
    """
    for problem in (
        () if settings.ENABLE_PREVIEW_FEATURES else cut_problems(preview_problems(document))
    ):
        logger.warning("Application %s: %s %s", name, problem.path, problem.message)
        yield InitializationIssue(f"{problem}.", section=CONFIGURATION, is_hard=False)
