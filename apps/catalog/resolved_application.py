"""Applications as they are run: the manifest read, its references resolved, its capabilities prepared."""

import hashlib
import logging
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import msgspec
from django.conf import settings

from apps.capabilities.registry import Prepared, prepare
from apps.catalog.application_files.own_skills import own_skills_of, with_own_skills
from apps.catalog.content.agents import installed_agents
from apps.catalog.content.chat_places import installed_places
from apps.catalog.content.installed import installed
from apps.catalog.content.layers import Content
from apps.catalog.content.prompts import broken_prompts, installed_prompts
from apps.catalog.content.references import resolve_references
from apps.catalog.content.skills import installed_skills
from apps.catalog.models import Application, ApplicationVersion
from apps.catalog.versions.snapshots import content_of
from apps.errors import ApplicationBroken, InitializationIssue, PlaceNotFound
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
    own = with_own_skills(content, own_skills_of(application))
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
