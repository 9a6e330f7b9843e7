"""Deletes the files of questions that were never sent."""

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

from apps.accounts.legal_holds import holds
from apps.conversations.files.folder import ROOT, folder_of, is_uuid
from apps.conversations.models import Conversation
from apps.workspace.local.files import files
from apps.workspace.local.models import StoredFile

HOURS = 24
"""The files of an unsent question are deleted this many hours after the last upload."""
AT_ONCE = 500
"""The maximum number of values in one query. Databases limit this number."""


def delete(buckets: Collection[str] | None = None, *, but: UUID | None = None) -> int:
    """Delete the files that were uploaded for questions that were not sent within `HOURS`.

    If `buckets` is set, only these owners' files are deleted. Files for the conversation `but` are
    not deleted. Return the number of unsent questions.
    """
    before = timezone.now() - timedelta(hours=HOURS)
    rows = StoredFile.objects.filter(name__startswith=f"{ROOT}/").exclude(holds("bucket"))
    if buckets is not None:
        rows = rows.filter(bucket__in=buckets)
    old = rows.filter(updated_at__lt=before).values_list("bucket", "name")
    folders = {(bucket, name.split("/")[1]) for bucket, name in old.iterator()}
    waiting = {(bucket, UUID(text)) for bucket, text in folders if is_uuid(text)}
    given_up = [
        one
        for one in without_conversation(waiting)
        if one[1] != but and not is_in_use(*one, before)
    ]
    for bucket, conversation in given_up:
        files.delete_below(bucket, folder_of(conversation))
    return len(given_up)


def without_conversation(waiting: Collection[tuple[str, UUID]]) -> Iterator[tuple[str, UUID]]:
    ordered = sorted(waiting)
    for start in range(0, len(ordered), AT_ONCE):
        some = ordered[start : start + AT_ONCE]
        ids = [conversation for _, conversation in some]
        known = set(Conversation.objects.filter(pk__in=ids).values_list("pk", flat=True))
        yield from (one for one in some if one[1] not in known)


def is_in_use(bucket: str, conversation: UUID, since: datetime) -> bool:
    """Return True if a file was uploaded for the conversation at or after `since`."""
    prefix = folder_of(conversation)
    return StoredFile.objects.filter(
        bucket=bucket, name__startswith=prefix, updated_at__gte=since
    ).exists()
