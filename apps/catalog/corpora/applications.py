"""Finds the applications whose attached files are indexed for search."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.conf import settings

from apps.accounts.caller import bucket_of
from apps.capabilities.documents.attached_files import attached_contexts
from apps.catalog.models import Application
from apps.manifest.contexts import Context
from apps.manifest.validation.validation import ManifestInvalid, read_manifest
from apps.workspace.loading.shared_loads import rules_of


@dataclass(frozen=True, slots=True)
class AttachingApplication:
    """An application whose attached files are indexed."""

    slug: str
    number: int
    """The application's ID."""
    version: int
    """The version of the application's row."""
    published: int
    """The number of the live version."""
    bucket: str
    """The bucket of the owner, or "" if there is no owner. Files are read with the owner's
    permissions.
    """
    contexts: tuple[Context, ...]
    embedding_deployment_id: str | None
    """The deployment that computes vectors, or None for the installation's default."""
    limit: int
    """The maximum size of a file in bytes."""

    @property
    def stamp(self) -> str:
        """Return a value that changes whenever the application is saved."""
        return f"{self.number}:{self.version}"


@dataclass(slots=True)
class AttachingApplications:
    """Finds applications with attached files. Caches the manifest of an application until the
    application is saved.
    """

    kept: dict[int, tuple[int, AttachingApplication | None]] = field(default_factory=dict)

    def newest(self) -> Mapping[str, AttachingApplication]:
        """Return the enabled applications with attached files, by slug."""
        enabled = Application.objects.filter(is_enabled=True)
        versions = dict(enabled.values_list("pk", "version"))
        self.kept = {pk: kept for pk, kept in self.kept.items() if versions.get(pk) == kept[0]}
        for row in enabled.filter(pk__in=versions.keys() - self.kept.keys()):
            self.kept[row.pk] = row.version, attaching(row)
        found = (application for _, application in self.kept.values())
        return {one.slug: one for one in found if one is not None}


def attaching(row: Application) -> AttachingApplication | None:
    """Return the data for indexing the application's attached files, or None if there are none."""
    if not settings.CORPUS_CHUNKS:
        return None
    try:
        manifest = read_manifest(
            row.manifest,
            preview=settings.ENABLE_PREVIEW_FEATURES,
            default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
        )
    except ManifestInvalid:
        return None  # An application with an invalid manifest does not run.
    contexts = attached_contexts(manifest)
    if not contexts or manifest.features is None or manifest.features.documents is None:
        return None
    return AttachingApplication(
        row.slug,
        row.pk,
        row.version,
        row.live_number,
        bucket_of(row.owner_id) if row.owner_id else "",
        contexts,
        manifest.features.documents.embedding_deployment_id,
        rules_of(manifest).limit,
    )
