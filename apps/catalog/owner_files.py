"""Ensures that only the owner of an application can attach the owner's files to it.

An application reads attached files with its owner's permissions. Without this rule, an operator
could read another user's files by attaching them, or by making that user the owner. The rule
applies only to newly attached files.
"""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from apps.accounts.buckets import bucket_of
from apps.catalog.history.actors import current_actor
from apps.catalog.models import Application
from apps.manifest.contexts import FileContext, FolderContext
from apps.manifest.problems import Problem
from apps.manifest.validation.validation import ManifestInvalid, read_manifest
from apps.workspace.loading.file_locations import locate_file
from apps.workspace.local.files.store import buckets_of

ADVICE = "Only the owner can attach it. Use a shared file, whose URL begins with files/public/."


def added_files(application: Application) -> tuple[bool, list[Problem]]:
    """Return whether the owner changes, and an error for each of the owner's files that another
    user is about to attach, with the path of its URL in the manifest.
    """
    actor, owner = current_actor().user, application.owner_id
    if actor is None or owner is None or actor.pk == owner:  # Commands have all permissions.
        return False, []
    named = owner_files(owner, application.manifest)
    stored = Application.objects.filter(pk=application.pk).first() if named else None
    if stored is None or stored.owner_id != owner:
        return True, problems_of(named)
    known = owner_files(owner, stored.manifest)
    return False, problems_of({url: path for url, path in named.items() if url not in known})


def owner_files(owner: int, manifest: Any) -> Mapping[str, str]:
    """Map the URLs of the owner's files and folders in the manifest to the paths of these URLs."""
    try:
        contexts = read_manifest(
            manifest,
            preview=settings.ENABLE_PREVIEW_FEATURES,
            default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
        ).contexts
    except ManifestInvalid:
        return {}
    own = tuple(f"files/{bucket}/" for bucket in buckets_of(bucket_of(owner)))
    places = {
        locate_file(context.url).address: f"contexts[{number}].url"
        for number, context in enumerate(contexts)
        if isinstance(context, FileContext | FolderContext)
    }
    return {address: path for address, path in places.items() if address.startswith(own)}


def problems_of(named: Mapping[str, str]) -> list[Problem]:
    return [
        Problem(path, f"{address} belongs to the owner of the application. {ADVICE}")
        for address, path in named.items()
    ]
