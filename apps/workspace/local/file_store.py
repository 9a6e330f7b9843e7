"""Bytes of files in Django's default storage, and the rows that point at them.

Bytes are never overwritten. A write stores new bytes under a new name and then points the row at
them, so a row always has its bytes, even after a failure half-way or with concurrent writers.
"""

import hashlib
import logging
import re
import uuid
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils.formats import number_format
from django.utils.translation import gettext

from apps.errors import FileChanged, FileTooLarge
from apps.workspace.local.models import FormerBucket, StoredFile
from apps.workspace.local.paths import check_name, clean_name, find_place, write_path
from apps.workspace.local.quotas import check_quota, lock_quota
from apps.workspace.stored_files import FileInfo, missing

logger = logging.getLogger(__name__)

UNKNOWN_TYPE = "application/octet-stream"
_content_type = re.compile(r"[\w.+-]+/[\w.+-]+(\s*;[ -~]*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of a write: the file has one of `etags`, or does not exist (`is_new`)."""

    etags: Collection[str] = ()
    is_new: bool = False


def store(
    bucket: str, name: str, content: File[Any], content_type: str, condition: Condition
) -> FileInfo:
    """Raises `FileRefused`, `FileChanged`."""
    name = name_in(bucket, name)
    check_name(name)
    check_size(content.size)
    digest = hashlib.sha256()
    for piece in content.chunks():
        digest.update(piece)
    stored = new_storage_name()  # no other file has it, so the storage does not change it
    fields = {
        "storage_name": stored,
        "content_type": clean_type(content_type),
        "size": content.size,
        "etag": digest.hexdigest(),
    }
    try:
        default_storage.save(stored, content)
        row, replaced = point_row(bucket, name, fields, condition)
    except BaseException:
        discard(stored)  # also the part that was written until the disk was full
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
        raise FileChanged(
            gettext("There is already a file {write_path}.").format(
                write_path=write_path(bucket, name)
            )
        )
    replaced, size = row.storage_name, row.size
    for field, value in fields.items():
        setattr(row, field, value)
    row.save()
    if row.size > size:
        check_quota(bucket)
    return row, replaced


def check_size(size: int, limit: int | None = None) -> None:
    limit = settings.DEFAULT_FILE_LOADING_SIZE_LIMIT if limit is None else limit
    if size > limit:
        raise FileTooLarge(
            gettext("The file has {size} bytes; at most {limit} are possible.").format(
                size=number_format(size, force_grouping=True),
                limit=number_format(limit, force_grouping=True),
            )
        )


def discard(storage_name: str) -> None:
    """Delete bytes that no row points at. If that fails, housekeeping deletes them within days."""
    try:
        default_storage.delete(storage_name)
    except OSError:
        logger.exception("Unused bytes remain in the storage: %s", storage_name)


def changed(path: str) -> FileChanged:
    return FileChanged(gettext("{path} was changed meanwhile; read it again.").format(path=path))


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


def find(bucket: str, path: str, *, lock: bool = False) -> StoredFile:
    """The row of a file in this bucket or a former one of its owner. Raises `FileRefused`."""
    place = find_place(path)
    if place is None or (place[0] != bucket and place[0] not in buckets_of(bucket)):
        raise missing(path)
    rows = StoredFile.objects.select_for_update() if lock else StoredFile.objects.all()
    row = rows.filter(bucket=place[0], name=name_in(*place)).first()
    if row is None:
        raise missing(path)
    return row


def name_in(bucket: str, name: str) -> str:
    """The clean name, or the name itself if a file has it: files from before keep theirs."""
    clean = clean_name(name)
    if clean == name or StoredFile.objects.filter(bucket=bucket, name=name).exists():
        return name
    return clean


def buckets_of(bucket: str) -> list[str]:
    """The bucket, and the ones that its owner had before signing in."""
    before = FormerBucket.objects.filter(bucket=bucket) if bucket else FormerBucket.objects.none()
    return [bucket, *before.values_list("name", flat=True)]
