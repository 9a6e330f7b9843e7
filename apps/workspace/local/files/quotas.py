"""Quotas of one owner: bytes and number of files. Zero in the settings means no limit."""

from django.conf import settings
from django.db import connection
from django.db.models import Count, Sum
from django.utils.formats import number_format
from django.utils.translation import gettext

from apps.errors import FileTooLarge
from apps.workspace.local.models import PUBLIC, StoredFile


def lock_quota(bucket: str) -> None:
    """Serialize writes by the same owner until the transaction ends."""
    # SQLite allows only one writer anyway.
    if connection.vendor == "postgresql" and (most_bytes() or most_files()):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_advisory_xact_lock(hashtext('files'), hashtext(%s))", [bucket]
            )


def check_quota(bucket: str) -> None:
    """Check the quota. Call it after the write, in the same transaction. Raises `FileTooLarge`."""
    if bucket == PUBLIC or not (most_bytes() or most_files()):
        return
    shown = StoredFile.objects.filter(bucket=bucket, hidden_at=None)
    used = shown.aggregate(files=Count("pk"), bytes=Sum("size"))
    if most_files() and used["files"] > most_files():
        raise FileTooLarge(
            gettext(
                "You already have the maximum number of files ({most_files}). Delete some that you no longer need."
            ).format(most_files=number_format(most_files(), force_grouping=True))
        )
    if most_bytes() and (used["bytes"] or 0) > most_bytes():
        raise FileTooLarge(
            gettext(
                "Your files would have {used} bytes in total; the limit is {most_bytes}. Delete "
                "some that you no longer need."
            ).format(
                used=number_format(used["bytes"], force_grouping=True),
                most_bytes=number_format(most_bytes(), force_grouping=True),
            )
        )


def most_bytes() -> int:
    return int(settings.FILES_MAX_BYTES_PER_USER)


def most_files() -> int:
    return int(settings.FILES_MAX_COUNT_PER_USER)
