"""Files of one bucket: rows in the database, bytes in Django's default storage.

Bytes are never overwritten. A write stores new bytes under a new name and then points the row at
them, so a row always has its bytes, even after a failure half-way or with concurrent writers.
"""

from __future__ import annotations

import hashlib
import logging
import re
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings
from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage
from django.db import transaction

from apps.errors import FileChanged, FileRefused, FileTooLarge
from apps.workspace.local.models import PUBLIC, FormerBucket, StoredFile
from apps.workspace.local.paths import ROOT, check_name, find_place, write_path
from apps.workspace.local.quotas import check_quota, lock_quota
from apps.workspace.port import FileContent, FileInfo, FolderInfo, shown
from apps.workspace.port import missing as missing

logger = logging.getLogger(__name__)

UNKNOWN_TYPE = "application/octet-stream"
READ_ATTEMPTS = 3
"""A write during a read moves the bytes, so the read is repeated."""

_content_type = re.compile(r"[\w.+-]+/[\w.+-]+(\s*;[ -~]*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of a write: the file has one of `etags`, or does not exist (`is_new`)."""

    etags: Collection[str] = ()
    is_new: bool = False


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


def store(
    bucket: str, name: str, content: File[Any], content_type: str, condition: Condition
) -> FileInfo:
    check_size(content.size)
    digest = hashlib.sha256()
    for piece in content.chunks():
        digest.update(piece)
    stored = default_storage.save(new_storage_name(), content)
    fields = {
        "storage_name": stored,
        "content_type": clean_type(content_type),
        "size": content.size,
        "etag": digest.hexdigest(),
    }
    try:
        row, replaced = point_row(bucket, name, fields, condition)
    except BaseException:
        discard(stored)
        raise
    if replaced:
        discard(replaced)
    return info_of(row)


@transaction.atomic
def point_row(
    bucket: str, name: str, fields: dict[str, object], condition: Condition
) -> tuple[StoredFile, str]:
    """Point the row at new bytes; return it and where the old bytes are ("" for a new file).

    Raises `FileRefused`, `FileChanged`.
    """
    lock_quota(bucket)
    rows = StoredFile.objects.select_for_update()
    if condition.etags:
        row, is_new = rows.filter(bucket=bucket, name=name).first(), False
        if row is None or row.etag not in condition.etags:
            raise changed(write_path(bucket, name))
    else:
        row, is_new = rows.get_or_create(bucket=bucket, name=name, defaults=fields)
    if is_new:
        check_quota(bucket)
        return row, ""
    if condition.is_new:
        raise FileChanged(f"There is already a file {write_path(bucket, name)}.")
    replaced, size = row.storage_name, row.size
    for field, value in fields.items():
        setattr(row, field, value)
    row.save()
    if row.size > size:
        check_quota(bucket)
    return row, replaced


def listing(bucket: str, folder: str, is_deep: bool) -> Sequence[FileInfo | FolderInfo]:
    """The entries of a folder, sorted by path. Raises `FileRefused` for an impossible folder."""
    prefix = folder_prefix(bucket, folder)
    rows = StoredFile.objects.filter(bucket=bucket, name__startswith=prefix)
    # SQLite compares without case, so the prefix is checked again here.
    found = [row for row in rows if row.name.startswith(prefix)]
    entries: dict[str, FileInfo | FolderInfo] = {}
    for row in found:
        inner, slash, _ = row.name[len(prefix) :].partition("/")
        if slash and not is_deep:
            path = write_path(bucket, prefix + inner) + "/"
            entries[path] = FolderInfo(path)
        else:
            entries[write_path(bucket, row.name)] = info_of(row)
    return [entries[path] for path in sorted(entries)]


def copy(bucket: str, found: FileContent, destination: str, overwrite: bool) -> None:
    """Raises `FileRefused`, `FileChanged`."""
    condition = Condition(is_new=not overwrite)
    name = own_name(bucket, destination)
    if find_place(found.info.path) != (bucket, name):
        store(bucket, name, ContentFile(found.content), found.info.content_type, condition)


def share(name: str, content: File[Any], content_type: str) -> FileInfo:
    """Create or replace a file that everybody may read. Raises `FileRefused`."""
    check_name(name)
    return store(PUBLIC, name, content, content_type, Condition())


def move(bucket: str, source: str, destination: str, overwrite: bool) -> None:
    """Raises `FileRefused`, `FileChanged`."""
    name = own_name(bucket, destination)
    with transaction.atomic():
        row = find(bucket, source, lock=True)
        if (row.bucket, row.name) == (bucket, name):
            return
        replaced = StoredFile.objects.select_for_update().filter(bucket=bucket, name=name).first()
        if replaced is not None and not overwrite:
            raise FileChanged(f"There is already a file {destination}.")
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
        raise FileRefused(f"{shown(path)} is no place that you may write to.")
    return place[1]


def folder_prefix(bucket: str, folder: str) -> str:
    """The beginning of the names of all files in a folder. Raises `FileMissing`."""
    if folder.rstrip("/") == f"{ROOT}/{bucket}":
        return ""
    place = find_place(folder.removesuffix("/"))
    if place is None or place[0] != bucket:
        raise missing(folder)
    return f"{place[1]}/"


def find(bucket: str, path: str, *, lock: bool = False) -> StoredFile:
    """The row of a file in this bucket or a former one of its owner. Raises `FileRefused`."""
    place = find_place(path)
    if place is None or (place[0] != bucket and place[0] not in buckets_of(bucket)):
        raise missing(path)
    rows = StoredFile.objects.select_for_update() if lock else StoredFile.objects.all()
    row = rows.filter(bucket=place[0], name=place[1]).first()
    if row is None:
        raise missing(path)
    return row


def reader_of(bucket: str, path: str) -> str:
    """The bucket to read a path from: everybody may read the operators' shared files."""
    return PUBLIC if path.startswith(f"{ROOT}/{PUBLIC}/") else bucket


def buckets_of(bucket: str) -> list[str]:
    """The bucket, and the ones that its owner had before signing in."""
    before = FormerBucket.objects.filter(bucket=bucket) if bucket else FormerBucket.objects.none()
    return [bucket, *before.values_list("name", flat=True)]


def check_size(size: int, limit: int | None = None) -> None:
    limit = settings.DEFAULT_FILE_LOADING_SIZE_LIMIT if limit is None else limit
    if size > limit:
        raise FileTooLarge(f"The file has {size:,} bytes; at most {limit:,} are possible.")


def discard(storage_name: str) -> None:
    """Delete bytes that no row points at; a failure is only logged."""
    try:
        default_storage.delete(storage_name)
    except OSError:
        logger.exception("Unused bytes remain in the storage: %s", storage_name)


def changed(path: str) -> FileChanged:
    return FileChanged(f"{path} was changed meanwhile; read it again.")


def new_storage_name() -> str:
    name = uuid.uuid4().hex
    return f"{name[:2]}/{name}"


def clean_type(content_type: str) -> str:
    written = content_type.strip()
    is_one = len(written) <= 200 and _content_type.fullmatch(written)
    return written if is_one else UNKNOWN_TYPE


def info_of(row: StoredFile) -> FileInfo:
    return FileInfo(
        path=write_path(row.bucket, row.name),
        content_type=row.content_type,
        size=row.size,
        etag=row.etag,
        updated_at=row.updated_at,
        created_at=row.created_at,
    )
