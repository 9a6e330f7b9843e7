"""Reads and writes the files of one bucket, by path or by name."""

import logging
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.core.files.base import ContentFile, File
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from apps.accounts.legal_holds import is_held, refusal
from apps.errors import FileChanged, FileRefused
from apps.workspace.local.files.paths import ROOT, check_name, clean_name, split_path, write_path
from apps.workspace.local.files.readers import FileReader, readable_files
from apps.workspace.local.files.storage import storage
from apps.workspace.local.files.store import Condition as Condition
from apps.workspace.local.files.store import buckets_of as buckets_of
from apps.workspace.local.files.store import check_size as check_size
from apps.workspace.local.files.store import (
    discard,
    existing_name,
    release_connection,
    store_content,
    stored_info,
)
from apps.workspace.local.files.store import file_changed as file_changed
from apps.workspace.local.files.store import find_stored as find_stored
from apps.workspace.local.models import PUBLIC, StoredFile
from apps.workspace.stored_files import FileContent, FileInfo, FolderInfo, display_path
from apps.workspace.stored_files import missing as missing

logger = logging.getLogger(__name__)

_in_conversation = re.compile(r"conversations/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/")
READ_ATTEMPTS = 3
"""The maximum number of attempts to read a file. An attempt fails if a concurrent write replaces
the file's content.
"""


def info(reader: FileReader | str, path: str) -> FileInfo:
    """Return the metadata of a file. Raises `FileMissing` if the reader may not read it."""
    return stored_info(find_stored(reader, path))


def read(reader: FileReader | str, path: str, limit: int | None = None) -> FileContent:
    """Return the content of a file of up to `limit` bytes. Raises `FileRefused` if the file is
    larger or cannot be read. The message is the same for a missing file and for another owner's
    file.
    """
    for _ in range(READ_ATTEMPTS):
        row = find_stored(reader, path)
        check_size(row.size, limit)
        try:
            release_connection()
            with storage().open(row.storage_name) as stored:
                return FileContent(stored_info(row), stored.whole())
        except FileNotFoundError:
            continue
    logger.error("The file %a is missing from storage.", path)
    raise missing(path)


def keep(bucket: str, name: str, content: bytes, content_type: str) -> FileInfo:
    """Create or replace the file with this name. Raises `FileRefused` if the write is not
    allowed.
    """
    check_name(name)
    return store_content(bucket, name, ContentFile(content), content_type, Condition())


def write(
    bucket: str, path: str, content: bytes, content_type: str, condition: Condition
) -> FileInfo:
    """Create or replace the file at a path. Raises `FileRefused` if the write is not allowed, and
    `FileChanged` if the `condition` is not met.
    """
    name = own_name(bucket, path)
    return store_content(bucket, name, ContentFile(content), content_type, condition)


def take(
    bucket: str,
    name: str,
    content: File[Any],
    content_type: str,
    condition: Condition,
    limit: int | None = None,
) -> FileInfo:
    """Create or replace a file with the content of an open file, which is read in chunks. Raises
    `FileRefused` if the write is not allowed, and `FileChanged` if the `condition` is not met.
    """
    check_name(name)
    return store_content(bucket, name, content, content_type, condition, limit)


def listing(
    reader: FileReader | str, folder: str, is_deep: bool
) -> Sequence[FileInfo | FolderInfo]:
    """Return the files and folders in a folder or, if `is_deep` is true, all files below it, sorted
    by path. Raises `FileRefused` for an invalid folder.
    """
    bucket = listed_bucket(reader, folder)
    prefix = folder_prefix(bucket, folder)
    rows = {row.name: row for row in readable_files(reader, bucket).filter(name__startswith=prefix)}
    return entries_of(paths_in(bucket, prefix, rows, is_deep), rows)


def listing_page(
    reader: FileReader | str, folder: str, is_deep: bool, *, after: str, most: int
) -> tuple[Sequence[FileInfo | FolderInfo], bool]:
    """Return up to `most` files and folders in a folder whose paths come after the path `after`,
    and True if there are more.

    Loads only the rows of these files. Raises `FileRefused` for an invalid folder, and
    `FileMissing` for a folder without files.
    """
    bucket = listed_bucket(reader, folder)
    prefix = folder_prefix(bucket, folder)
    found = readable_files(reader, bucket).filter(name__startswith=prefix)
    names = found.values_list("name", flat=True)
    paths = paths_in(bucket, prefix, names, is_deep)
    if not paths and prefix:
        raise missing(folder)
    rest = sorted(path for path in paths if path > after)
    page = {path: paths[path] for path in rest[:most]}
    rows = readable_files(reader, bucket).filter(name__in=filter(None, page.values()))
    return entries_of(page, {row.name: row for row in rows}), len(rest) > len(page)


def rows_below(bucket: str, prefix: str) -> QuerySet[StoredFile]:
    return StoredFile.objects.filter(bucket=bucket, name__startswith=prefix)


def paths_in(
    bucket: str, prefix: str, names: Iterable[str], is_deep: bool
) -> dict[str, str | None]:
    """Map the paths of the files in a folder to their names, and the paths of its folders to None."""
    paths: dict[str, str | None] = {}
    for name in names:
        # SQLite's comparison ignores case, so the prefix is checked again here.
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
    """Return the files and folders at these paths, sorted by path. Files that were deleted after
    their names were read are omitted.
    """
    return [
        FolderInfo(path) if name is None else stored_info(rows[name])
        for path, name in sorted(paths.items())
        if name is None or name in rows
    ]


def copy(bucket: str, found: FileContent, destination: str, overwrite: bool) -> None:
    """Copy a file to `destination`. Raises `FileRefused` if the write is not allowed, and
    `FileChanged` if another writer changed the destination first.
    """
    condition = Condition(is_new=not overwrite)
    name = existing_name(bucket, own_name(bucket, destination))
    if split_path(found.info.path) != (bucket, name):
        store_content(bucket, name, ContentFile(found.content), found.info.content_type, condition)


def share(name: str, content: File[Any], content_type: str) -> FileInfo:
    """Create or replace a file that everyone may read. Raises `FileRefused` if the write is not
    allowed.
    """
    check_name(name)
    return store_content(PUBLIC, name, content, content_type, Condition())


def move(bucket: str, source: str, destination: str, overwrite: bool) -> None:
    """Move a file to `destination`. Raises `FileRefused` if the write is not allowed, and
    `FileChanged` if another writer changed one of the files first.
    """
    name = existing_name(bucket, own_name(bucket, destination))
    check_name(name)
    with transaction.atomic():
        row = find_stored(bucket, source, lock=True)
        if (row.bucket, row.name) == (bucket, name):
            return
        replaced = StoredFile.objects.select_for_update().filter(bucket=bucket, name=name).first()
        if replaced is not None and not overwrite:
            raise FileChanged(
                gettext("A file named {destination} already exists. Choose another name.").format(
                    destination=destination
                )
            )
        if replaced is not None:
            replaced.delete()
        row.bucket, row.name = bucket, name
        row.save(update_fields=("bucket", "name", "updated_at"))
    if replaced is not None:
        discard(replaced.storage_name)


def delete(bucket: str, path: str, etags: Collection[str] = ()) -> None:
    """Delete a file. If there are `etags`, the file is deleted only if it has one of them.

    Raises `FileRefused`, including for a file under a legal hold, and `FileChanged` if the file has
    a different ETag.
    """
    with transaction.atomic():
        row = find_stored(bucket, path, lock=True)
        if is_held(bucket, conversation_of(row.name)):
            raise FileRefused(refusal())
        if etags and row.etag not in etags:
            raise file_changed(path)
        row.delete()
    discard(row.storage_name)


def delete_below(bucket: str, prefix: str) -> None:
    """Delete all files whose names begin with `prefix`. The content is deleted after the rows."""
    rows = StoredFile.objects.filter(bucket=bucket, name__startswith=prefix)
    found = [row for row in rows if row.name.startswith(prefix)]
    StoredFile.objects.filter(pk__in=[row.pk for row in found]).delete()
    for row in found:
        transaction.on_commit(partial(discard, row.storage_name))


def hide_below(bucket: str, prefix: str, *, is_hidden: bool) -> None:
    """Hide all files whose names begin with `prefix` from their owner, or show them again."""
    at = timezone.now() if is_hidden else None
    rows_below(bucket, prefix).filter(hidden_at__isnull=is_hidden).update(hidden_at=at)


def conversation_of(name: str) -> UUID | None:
    """Return the ID of the conversation whose folder contains the file, or None."""
    found = _in_conversation.match(name)
    return UUID(found[1]) if found else None


def own_name(bucket: str, path: str) -> str:
    """Return the name in the path of a file in this bucket. Raises `FileRefused` if the path is not
    in the bucket.
    """
    place = split_path(path)
    if place is None or place[0] != bucket:
        raise FileRefused(
            gettext("You don’t have permission to write to {shown}.").format(
                shown=display_path(path)
            )
        )
    return place[1]


def folder_prefix(bucket: str, folder: str) -> str:
    """Return the common prefix of the names of all files in a folder. Raises `FileMissing` if the
    folder is not in the bucket.
    """
    if folder.rstrip("/") == f"{ROOT}/{bucket}":
        return ""
    place = split_path(folder.removesuffix("/"))
    if place is None or place[0] != bucket:
        raise missing(folder)
    prefix = f"{place[1]}/"
    clean = clean_name(prefix)
    return prefix if clean == prefix or rows_below(bucket, prefix).exists() else clean


def listed_bucket(reader: FileReader | str, folder: str) -> str:
    return reader if isinstance(reader, str) else reader.bucket_of(folder)
