"""Enforces the quotas of one owner: the total size and the number of files."""

from django.conf import settings
from django.db import connection
from django.db.models import Count, Sum
from django.utils.formats import number_format
from django.utils.translation import gettext

from apps.errors import FileTooLarge
from apps.workspace.local.models import PUBLIC, StoredFile

MOST_FILES = 10_000
"""The maximum number of files of an owner, so that lists of them remain usable."""


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
    """Return the limit on an owner's files in bytes, or 0 if there is no limit."""
    return int(settings.FILES_MAX_BYTES_PER_USER)
