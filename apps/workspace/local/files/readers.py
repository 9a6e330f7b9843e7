"""Determines which stored files a reader may read."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Substr

from apps.workspace.local.files.paths import ROOT
from apps.workspace.local.models import PUBLIC, FormerBucket, StoredFile

APPLICATIONS = "applications/"
"""The folder of shared files that belong to applications. Only users of an application may read its
files.
"""

Ids = Callable[[], Collection[int] | QuerySet[Any, Any]]


@dataclass(frozen=True, slots=True)
class FileReader:
    """A caller who can read their own files, shared files, and the files of some applications.

    `application_files` returns the IDs of these applications' files, as values or as a query.
    """

    bucket: str
    application_files: Ids = tuple

    def bucket_of(self, path: str) -> str:
        """Return the bucket in a path: the public bucket, or else the caller's own."""
        return PUBLIC if path.startswith(f"{ROOT}/{PUBLIC}/") else self.bucket


def readable_files(reader: FileReader | str, bucket: str) -> QuerySet[StoredFile]:
    """Return the files in a bucket that the reader may read. Everything that serves stored files
    uses this function.

    If `reader` is the name of a bucket, it may read the files in this bucket, and in the buckets
    that the owner had before signing in.
    """
    rows = StoredFile.objects.filter(bucket=bucket, hidden_at=None)
    if isinstance(reader, str):
        return rows if bucket == reader or bucket in buckets_of(reader) else rows.none()
    if bucket != PUBLIC:
        return readable_files(reader.bucket, bucket)
    return unrestricted_files(rows, Q(pk__in=reader.application_files()))


def unrestricted_files(rows: QuerySet[Any], more: Q) -> QuerySet[Any]:
    """Remove from `rows` the files that belong to applications, unless they match `more`."""
    # SQLite's LIKE ignores case, so the prefix is compared as a value.
    named = rows.alias(top=Substr("name", 1, len(APPLICATIONS)))
    found: QuerySet[Any] = named.filter(~Q(top=APPLICATIONS) | more)
    return found


def buckets_of(bucket: str) -> list[str]:
    """Return the bucket, and the buckets that its owner had before signing in."""
    before = FormerBucket.objects.filter(bucket=bucket) if bucket else FormerBucket.objects.none()
    return [bucket, *before.values_list("name", flat=True)]
