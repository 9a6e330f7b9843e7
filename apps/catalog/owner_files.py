"""Who may attach the own files of an application's owner: the owner alone.

Attached files are read and indexed with the rights of the owner, whoever has named them. So an operator
who names files of somebody else, or makes an owner of somebody whose files are named, would spend that
person's rights. What is stored already stays: only what an operator adds is looked at.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.conf import settings

from apps.accounts.buckets import bucket_of
from apps.manifest.contexts import FileContext, FolderContext
from apps.manifest.problems import Problem
from apps.manifest.validation import ManifestInvalid, read
from apps.workspace.loading.places import place_of
from apps.workspace.local.file_store import buckets_of

if TYPE_CHECKING:
    from apps.catalog.models import Application

ADVICE = "Only they can attach those; use shared files, which begin with files/public/."


def added_files(application: "Application") -> tuple[bool, list[Problem]]:
    """The own files of the owner that somebody else is about to attach, with the paths of contexts.

    With them, whether it is by another owner; if not, it is by another manifest.
    """
    # These modules refer to the rows of the catalog.
    from apps.catalog.history.actors import present_actor
    from apps.catalog.models import Application

    actor, owner = present_actor().user, application.owner_id
    if actor is None or owner is None or actor.pk == owner:  # a command has all rights
        return False, []
    named = owner_files(owner, application.manifest)
    stored = Application.objects.filter(pk=application.pk).first() if named else None
    if stored is None or stored.owner_id != owner:
        return True, problems_of(named)
    known = owner_files(owner, stored.manifest)
    return False, problems_of({url: path for url, path in named.items() if url not in known})


def owner_files(owner: int, manifest: Any) -> Mapping[str, str]:
    """Addresses of the owner's own files and folders in contexts, with the paths of those."""
    try:
        contexts = read(
            manifest,
            preview=settings.ENABLE_PREVIEW_FEATURES,
            default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
        ).contexts
    except ManifestInvalid:
        return {}
    own = tuple(f"files/{bucket}/" for bucket in buckets_of(bucket_of(owner)))
    places = {
        place_of(context.url).address: f"contexts[{number}].url"
        for number, context in enumerate(contexts)
        if isinstance(context, FileContext | FolderContext)
    }
    return {address: path for address, path in places.items() if address.startswith(own)}


def problems_of(named: Mapping[str, str]) -> list[Problem]:
    return [
        Problem(path, f"{address} belongs to the owner of the application. {ADVICE}")
        for address, path in named.items()
    ]
