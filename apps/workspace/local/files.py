"""Files of one bucket: rows that say what there is, and bytes in Django's default storage.

Bytes are never overwritten. A write stores new bytes under a name of its own and then points the
row at them, so a row always has its bytes, whatever fails half-way and however many write at once.
"""

from __future__ import annotations

import hashlib
import logging
import re
import uuid
from collections.abc import Sequence

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction

from apps.errors import FileRefused
from apps.workspace.local.models import StoredFile
from apps.workspace.local.paths import check_name, read_path, write_path
from apps.workspace.port import FileContent, FileInfo

logger = logging.getLogger(__name__)

UNKNOWN_TYPE = "application/octet-stream"
READ_ATTEMPTS = 3
"""A file that is written while it is read moves; it hardly does so twice."""

_content_type = re.compile(r"[\w.+-]+/[\w.+-]+(\s*;[ -~]*)?", re.ASCII)


def read(bucket: str, path: str) -> FileContent:
    """Raises `FileRefused`, in the same words for what is missing and what is another's."""
    for _ in range(READ_ATTEMPTS):
        row = find(bucket, path)
        try:
            with default_storage.open(row.storage_name, "rb") as stored:
                return FileContent(info_of(row), stored.read())
        except FileNotFoundError:
            continue
    logger.error("The bytes of %a are gone from the storage.", path)
    raise missing(path)


def write(bucket: str, name: str, content: bytes, content_type: str) -> FileInfo:
    """Create or replace. Raises `FileRefused`."""
    check_name(name)
    check_size(len(content))
    stored = default_storage.save(new_storage_name(), ContentFile(content))
    fields = {
        "storage_name": stored,
        "content_type": clean_type(content_type),
        "size": len(content),
        "etag": hashlib.sha256(content).hexdigest(),
    }
    try:
        row, replaced = point(bucket, name, fields)
    except BaseException:
        discard(stored)
        raise
    if replaced:
        discard(replaced)
    return info_of(row)


@transaction.atomic
def point(bucket: str, name: str, fields: dict[str, object]) -> tuple[StoredFile, str]:
    """Point the row at new bytes; return it and where the old bytes are ("" for a new file)."""
    rows = StoredFile.objects.select_for_update()
    row, is_new = rows.get_or_create(bucket=bucket, name=name, defaults=fields)
    if is_new:
        return row, ""
    replaced = row.storage_name
    for field, value in fields.items():
        setattr(row, field, value)
    row.save()
    return row, replaced


def listing(bucket: str, prefix: str) -> Sequence[FileInfo]:
    rows = StoredFile.objects.filter(bucket=bucket)
    # SQLite compares without case, so the prefix is looked at here.
    found = [info_of(row) for row in rows if row.name.startswith(prefix)]
    return sorted(found, key=lambda info: info.path)


def delete(bucket: str, path: str) -> None:
    """Raises `FileRefused`."""
    with transaction.atomic():
        row = find(bucket, path, lock=True)
        row.delete()
    discard(row.storage_name)


def find(bucket: str, path: str, *, lock: bool = False) -> StoredFile:
    """The row of a file of this bucket. Raises `FileRefused`."""
    place = read_path(path)
    if place is None or place[0] != bucket:
        raise missing(path)
    rows = StoredFile.objects.select_for_update() if lock else StoredFile.objects.all()
    row = rows.filter(bucket=bucket, name=place[1]).first()
    if row is None:
        raise missing(path)
    return row


def check_size(size: int) -> None:
    limit = settings.DEFAULT_FILE_LOADING_SIZE_LIMIT
    if size > limit:
        raise FileRefused(f"The file has {size:,} bytes; at most {limit:,} are possible.")


def discard(storage_name: str) -> None:
    """Delete bytes that no row points at; if that fails they are only in the way."""
    try:
        default_storage.delete(storage_name)
    except OSError:
        logger.exception("Unused bytes remain in the storage: %s", storage_name)


def missing(path: str) -> FileRefused:
    shown = path if len(path) <= 200 else f"{path[:200]}…"
    return FileRefused(f"There is no file {shown!a} that you may use.")


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
    )
