"""Writes the content of files to the storage, and the rows that refer to it.

Stored content is never overwritten. A write stores new content under a new name and then changes
the row, so a row's content always exists, even after a failure midway or with concurrent writers.
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
from django.db import close_old_connections, connection, transaction
from django.db.models import Count, Sum
from django.utils.formats import number_format
from django.utils.translation import gettext

from apps.errors import FileChanged, FileTooLarge
from apps.workspace.local.files.paths import check_name, clean_name, split_path, write_path
from apps.workspace.local.files.readers import FileReader, readable_files
from apps.workspace.local.files.readers import buckets_of as buckets_of
from apps.workspace.local.files.storage import storage
from apps.workspace.local.models import PUBLIC, StoredFile
from apps.workspace.stored_files import FileInfo, missing

logger = logging.getLogger(__name__)

UNKNOWN_TYPE = "application/octet-stream"
_content_type = re.compile(r"[\w.+-]+/[\w.+-]+(\s*;[ -~]*)?", re.ASCII)
MOST_FILES = 10_000
"""The maximum number of files per owner, so that lists of them remain usable."""


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition of a conditional write: the file has one of the `etags` or, if `is_new` is
    true, does not exist. If neither is set, every write is allowed.
    """

    etags: Collection[str] = ()
    is_new: bool = False


def store_content(
    bucket: str,
    name: str,
    content: File[Any],
    content_type: str,
    condition: Condition,
    limit: int | None = None,
) -> FileInfo:
    """Store content of up to `limit` bytes, by default `DEFAULT_FILE_LOADING_SIZE_LIMIT`, and
    update the file's row. Raises `FileRefused` if the write is not allowed, and `FileChanged` if
    the `condition` is not met.
    """
    name = existing_name(bucket, name)
    check_name(name)
    check_size(content.size, limit)
    digest = hashlib.sha256()
    for chunk in content.chunks():
        digest.update(chunk)
    stored = new_storage_name()  # The name is unique, so the storage does not change it.
    fields = {
        "storage_name": stored,
        "content_type": clean_type(content_type),
        "size": content.size,
        "etag": digest.hexdigest(),
    }
    release_connection()
    storage().put(stored, content.chunks())
    try:
        row, replaced = point_row(bucket, name, fields, condition)
    except BaseException:
        discard(stored)
        raise
    if replaced:
        discard(replaced)
    return stored_info(row)


def release_connection() -> None:
    """Release the database connection before a slow storage operation, unless an open transaction
    needs it.
    """
    if not transaction.get_connection().in_atomic_block:
        close_old_connections()


@transaction.atomic
def point_row(
    bucket: str, name: str, fields: dict[str, object], condition: Condition
) -> tuple[StoredFile, str]:
    """Update a file's row to refer to new content. Return the row, and the storage name of the old
    content, or "" for a new file.

    Raises `FileRefused` if the write is not allowed, and `FileChanged` if the `condition` is not
    met.
    """
    lock_quota(bucket)
    rows = StoredFile.objects.select_for_update()
    if condition.etags:
        row, is_new = rows.filter(bucket=bucket, name=name).first(), False
        if row is None or row.etag not in condition.etags:
            raise file_changed(write_path(bucket, name))
    else:
        row, is_new = rows.get_or_create(bucket=bucket, name=name, defaults=fields)
    if is_new:
        check_quota(bucket)
        return row, ""
    if condition.is_new:
        raise FileChanged(
            gettext("A file named {write_path} already exists. Choose another name.").format(
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
            gettext("The file is {size} bytes; the limit is {limit}.").format(
                size=number_format(size, force_grouping=True),
                limit=number_format(limit, force_grouping=True),
            )
        )


def discard(storage_name: str) -> None:
    """Delete content to which no row refers. If that fails, housekeeping deletes it within a few
    days.
    """
    try:
        storage().delete(storage_name)
    except OSError:
        logger.exception("Failed to delete unused content from storage: %s", storage_name)


def file_changed(path: str) -> FileChanged:
    return FileChanged(
        gettext("{path} was changed in the meantime; read it again.").format(path=path)
    )


def new_storage_name() -> str:
    name = uuid.uuid4().hex
    return f"{name[:2]}/{name}"


def clean_type(content_type: str) -> str:
    written = content_type.strip()
    is_one = len(written) <= 200 and _content_type.fullmatch(written)
    return written if is_one else UNKNOWN_TYPE


def stored_info(row: StoredFile) -> FileInfo:
    return FileInfo(
        path=write_path(row.bucket, row.name),
        content_type=row.content_type,
        size=row.size,
        etag=row.etag,
        updated_at=row.updated_at,
        created_at=row.created_at,
    )


def find_stored(reader: FileReader | str, path: str, *, lock: bool = False) -> StoredFile:
    """Return the row of a file that the reader may read, locked if `lock` is True. Raises
    `FileRefused` if there is none.
    """
    place = split_path(path)
    if place is None:
        raise missing(path)
    rows = readable_files(reader, place[0])
    row = (rows.select_for_update() if lock else rows).filter(name=existing_name(*place)).first()
    if row is None:
        raise missing(path)
    return row


def existing_name(bucket: str, name: str) -> str:
    """Return the cleaned name, or the name itself if a file with exactly this name was stored
    before names were cleaned.
    """
    clean = clean_name(name)
    if clean == name or StoredFile.objects.filter(bucket=bucket, name=name).exists():
        return name
    return clean


def lock_quota(bucket: str) -> None:
    """Lock the owner's quota until the transaction ends, so that writes by the same owner are
    serialized.
    """
    # SQLite allows only one writer anyway.
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_advisory_xact_lock(hashtext('files'), hashtext(%s))", [bucket]
            )


def check_quota(bucket: str) -> None:
    """Raise `FileTooLarge` if the owner exceeds the quota. Must be called after the write, in the
    same transaction.
    """
    if bucket == PUBLIC:
        return
    shown = StoredFile.objects.filter(bucket=bucket, hidden_at=None)
    used = shown.aggregate(files=Count("pk"), bytes=Sum("size"))
    if used["files"] > MOST_FILES:
        raise FileTooLarge(
            gettext(
                "You already have the maximum number of files ({most_files}). Delete some that you no longer need."
            ).format(most_files=number_format(MOST_FILES, force_grouping=True))
        )
    if most_bytes() and (used["bytes"] or 0) > most_bytes():
        raise FileTooLarge(
            gettext(
                "Your files would take up {used} bytes; the limit is {most_bytes}. Delete some that you no longer need."
            ).format(
                used=number_format(used["bytes"], force_grouping=True),
                most_bytes=number_format(most_bytes(), force_grouping=True),
            )
        )


def most_bytes() -> int:
    """Return the limit on the total size of an owner's files in bytes, or 0 if there is no limit."""
    return int(settings.FILES_MAX_BYTES_PER_USER)
