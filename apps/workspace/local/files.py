"""Files of one bucket, by path or by name."""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

from apps.errors import FileChanged, FileRefused
from apps.workspace.local.file_store import Condition as Condition
from apps.workspace.local.file_store import buckets_of as buckets_of
from apps.workspace.local.file_store import changed as changed
from apps.workspace.local.file_store import check_size as check_size
from apps.workspace.local.file_store import discard, info_of, name_in, store
from apps.workspace.local.file_store import find as find
from apps.workspace.local.models import PUBLIC, StoredFile
from apps.workspace.local.paths import ROOT, check_name, clean_name, find_place, write_path
from apps.workspace.stored_files import FileContent, FileInfo, FolderInfo, shown
from apps.workspace.stored_files import missing as missing

logger = logging.getLogger(__name__)

READ_ATTEMPTS = 3
"""A write during a read moves the bytes, so the read is repeated."""


def info(bucket: str, path: str) -> FileInfo:
    """Raises `FileMissing`."""
    return info_of(find(bucket, path))


def read(bucket: str, path: str, limit: int | None = None) -> FileContent:
    """Raises `FileRefused`, with the same words for a missing file and for another owner's."""
    for _ in range(READ_ATTEMPTS):
        row = find(bucket, path)
        check_size(row.size, limit)
        try:
            with default_storage.open(row.storage_name, "rb") as stored:
                return FileContent(info_of(row), stored.read())
        except FileNotFoundError:
            continue
    logger.error("The bytes of %a are gone from the storage.", path)
    raise missing(path)


def keep(bucket: str, name: str, content: bytes, content_type: str) -> FileInfo:
    """Create or replace. Raises `FileRefused`."""
    check_name(name)
    return store(bucket, name, ContentFile(content), content_type, Condition())


def write(
    bucket: str, path: str, content: bytes, content_type: str, condition: Condition
) -> FileInfo:
    """Create or replace. Raises `FileRefused`, `FileChanged`."""
    name = own_name(bucket, path)
    return store(bucket, name, ContentFile(content), content_type, condition)


def take(
    bucket: str, name: str, content: File[Any], content_type: str, condition: Condition
) -> FileInfo:
    """Write from an open file, piece by piece. Raises `FileRefused`, `FileChanged`."""
    check_name(name)
    return store(bucket, name, content, content_type, condition)


def listing(bucket: str, folder: str, is_deep: bool) -> Sequence[FileInfo | FolderInfo]:
    """The entries of a folder, sorted by path. Raises `FileRefused` for an impossible folder."""
    prefix = folder_prefix(bucket, folder)
    rows = {row.name: row for row in rows_below(bucket, prefix)}
    return entries_of(paths_in(bucket, prefix, rows, is_deep), rows)


def listing_page(
    bucket: str, folder: str, is_deep: bool, *, after: str, most: int
) -> tuple[Sequence[FileInfo | FolderInfo], bool]:
    """Up to `most` entries whose paths come after one, and whether there are more.

    Loads the rows of these alone. Raises `FileRefused` for an impossible folder, `FileMissing` for
    one without files.
    """
    prefix = folder_prefix(bucket, folder)
    names = rows_below(bucket, prefix).values_list("name", flat=True)
    paths = paths_in(bucket, prefix, names, is_deep)
    if not paths and prefix:
        raise missing(folder)
    rest = sorted(path for path in paths if path > after)
    page = {path: paths[path] for path in rest[:most]}
    rows = StoredFile.objects.filter(bucket=bucket, name__in=filter(None, page.values()))
    return entries_of(page, {row.name: row for row in rows}), len(rest) > len(page)


def rows_below(bucket: str, prefix: str) -> QuerySet[StoredFile]:
    return StoredFile.objects.filter(bucket=bucket, name__startswith=prefix)


def paths_in(
    bucket: str, prefix: str, names: Iterable[str], is_deep: bool
) -> dict[str, str | None]:
    """The paths of files with their names, and those of folders with None."""
    paths: dict[str, str | None] = {}
    for name in names:
        # SQLite compares without case, so the prefix is checked again here.
        if not name.startswith(prefix):
            continue
        inner, slash, _ = name[len(prefix) :].partition("/")
        if slash and not is_deep:
            paths[write_path(bucket, prefix + inner) + "/"] = None
        else:
            paths[write_path(bucket, name)] = name
    return paths


def entries_of(
    paths: Mapping[str, str | None], rows: Mapping[str, StoredFile]
) -> list[FileInfo | FolderInfo]:
    """The entries by path; a file that was deleted since its name was read is left out."""
    return [
        FolderInfo(path) if name is None else info_of(rows[name])
        for path, name in sorted(paths.items())
        if name is None or name in rows
    ]


def copy(bucket: str, found: FileContent, destination: str, overwrite: bool) -> None:
    """Raises `FileRefused`, `FileChanged`."""
    condition = Condition(is_new=not overwrite)
    name = name_in(bucket, own_name(bucket, destination))
    if find_place(found.info.path) != (bucket, name):
        store(bucket, name, ContentFile(found.content), found.info.content_type, condition)


def share(name: str, content: File[Any], content_type: str) -> FileInfo:
    """Create or replace a file that everybody may read. Raises `FileRefused`."""
    check_name(name)
    return store(PUBLIC, name, content, content_type, Condition())


def move(bucket: str, source: str, destination: str, overwrite: bool) -> None:
    """Raises `FileRefused`, `FileChanged`."""
    name = name_in(bucket, own_name(bucket, destination))
    check_name(name)
    with transaction.atomic():
        row = find(bucket, source, lock=True)
        if (row.bucket, row.name) == (bucket, name):
            return
        replaced = StoredFile.objects.select_for_update().filter(bucket=bucket, name=name).first()
        if replaced is not None and not overwrite:
            raise FileChanged(
                gettext("There is already a file {destination}.").format(destination=destination)
            )
        if replaced is not None:
            replaced.delete()
        row.bucket, row.name = bucket, name
        row.save(update_fields=("bucket", "name", "updated_at"))
    if replaced is not None:
        discard(replaced.storage_name)


def delete(bucket: str, path: str, etags: Collection[str] = ()) -> None:
    """Delete a file, if given only with one of these `etags`. Raises `FileRefused`, `FileChanged`."""
    with transaction.atomic():
        row = find(bucket, path, lock=True)
        if etags and row.etag not in etags:
            raise changed(path)
        row.delete()
    discard(row.storage_name)


def delete_below(bucket: str, prefix: str) -> None:
    """Delete all files whose names begin with `prefix`; their bytes once the rows are gone."""
    rows = StoredFile.objects.filter(bucket=bucket, name__startswith=prefix)
    found = [row for row in rows if row.name.startswith(prefix)]
    StoredFile.objects.filter(pk__in=[row.pk for row in found]).delete()
    for row in found:
        transaction.on_commit(partial(discard, row.storage_name))


def own_name(bucket: str, path: str) -> str:
    """The name of a file of this bucket that may be written. Raises `FileRefused`."""
    place = find_place(path)
    if place is None or place[0] != bucket:
        raise FileRefused(
            gettext("{shown} is no place that you may write to.").format(shown=shown(path))
        )
    return place[1]


def folder_prefix(bucket: str, folder: str) -> str:
    """The beginning of the names of all files in a folder. Raises `FileMissing`."""
    if folder.rstrip("/") == f"{ROOT}/{bucket}":
        return ""
    place = find_place(folder.removesuffix("/"))
    if place is None or place[0] != bucket:
        raise missing(folder)
    prefix = f"{place[1]}/"
    clean = clean_name(prefix)
    return prefix if clean == prefix or rows_below(bucket, prefix).exists() else clean


def reader_of(bucket: str, path: str) -> str:
    """The bucket to read a path from: everybody may read the operators' shared files."""
    return PUBLIC if path.startswith(f"{ROOT}/{PUBLIC}/") else bucket
