"""Stores, copies and deletes the files that operators upload for an application. Only the
application's users, editors and runs can read these files.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.core.files.base import File
from django.db import transaction
from django.db.models import Q, QuerySet

from apps.accounts.caller import Caller
from apps.catalog.access import accessible
from apps.catalog.models import Application, Role, Upload
from apps.integers import read_integer
from apps.workspace.local.files import files
from apps.workspace.local.files.readers import APPLICATIONS, FileReader, unrestricted_files
from apps.workspace.local.files.store import discard
from apps.workspace.local.models import PUBLIC, SharedFile
from apps.workspace.stored_files import FileInfo


def upload_name(application: Application, name: str) -> str:
    """Return the name under which an application's file is stored among the shared files. It
    contains the application's ID, because the slug may change.
    """
    return f"{APPLICATIONS}{application.pk}/{name}"


@transaction.atomic
def store_upload(application: Application, name: str, content: File[Any], kind: str) -> FileInfo:
    """Create or replace a file that belongs to this application only. Raises `FileRefused` if the
    file is too large or has an invalid name.
    """
    info = files.share(upload_name(application, name), content, kind)
    row = files.find_stored(PUBLIC, info.path)
    Upload.objects.get_or_create(application=application, file=row)
    return info


def adopt_uploads() -> int:
    """Create the missing links between uploaded files and the applications whose folders contain
    them. Return the number of new links.

    During an upgrade, processes that run the previous version store files without a link. Nobody
    can read these files until they are linked.
    """
    rows = SharedFile.objects.filter(name__startswith=APPLICATIONS, uploads=None)
    folders = {pk: name.split("/")[1] for pk, name in rows.values_list("pk", "name")}
    numbers = [one for one in map(read_integer, folders.values()) if one is not None]
    found_rows = Application.objects.filter(Q(pk__in=numbers) | Q(slug__in=folders.values()))
    slugs = dict(found_rows.values_list("pk", "slug"))
    known = {slug: pk for pk, slug in slugs.items()} | {str(pk): pk for pk in slugs}
    found = [
        Upload(application_id=known[folder], file_id=pk)
        for pk, folder in folders.items()
        if folder in known
    ]
    Upload.objects.bulk_create(found, ignore_conflicts=True)
    return len(found)


def reader_for(caller: Caller) -> FileReader:
    return FileReader(caller.bucket, partial(readable_files, caller))


def readable_files(caller: Caller, running: Sequence[str] = ()) -> QuerySet[Any, Any]:
    """Return the IDs of the files of all applications that the caller can use or edit, and of the
    applications in `running`.

    `running` contains the slugs of the applications that are answering the caller.
    """
    allowed = accessible(caller).filter(Q(is_enabled=True) | Q(role__gte=Role.EDITOR))
    found = Q(application__in=allowed.order_by().values("pk"))
    if running:
        found |= Q(application__slug__in=running)
    return Upload.objects.filter(found).values("file")


def application_file_ids(application: int) -> QuerySet[Any, Any]:
    return Upload.objects.filter(application=application).values("file")


def offered_files(application: Application) -> QuerySet[SharedFile]:
    """Return the shared files that an application can use: its own files, and files that belong to
    no application.
    """
    return unrestricted_files(
        SharedFile.objects.all(), Q(pk__in=application_file_ids(application.pk))
    )


def copy_uploads(original: Application, copy: Application, caller: Caller) -> None:
    """Link the files of the original to its copy, except files that the caller may not read."""
    allowed = readable_files(caller)
    found = original.uploads.filter(file__in=allowed).values_list("file", flat=True)
    rows = [Upload(application=copy, file_id=pk) for pk in found]
    Upload.objects.bulk_create(rows, ignore_conflicts=True)


def erase_uploads(instance: Application, **_: Any) -> None:
    """Before an application is deleted, delete its files, unless copies of it also use them."""
    kept = Upload.objects.exclude(application=instance).values("file")
    rows = SharedFile.objects.filter(pk__in=application_file_ids(instance.pk)).exclude(pk__in=kept)
    for row in rows:
        row.delete()
        transaction.on_commit(partial(discard, row.storage_name))
