"""Deletes stored content to which no row refers. Killed processes and disk outages leave such
content behind.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import groupby

from django.utils import timezone

from apps.workspace.local.files.storage import storage
from apps.workspace.local.files.store import discard
from apps.workspace.local.installation import files_problem
from apps.workspace.local.models import StoredFile

HOURS = 24
"""Content without a row is deleted when it is this many hours old. Content is stored before its
row, so newer content may not have its row yet.
"""

_name = re.compile(r"[0-9a-f]{2}/[0-9a-f]{32}")


def delete_leftovers() -> int:
    """Search the whole storage, and delete content to which no row refers. Return the number of
    deleted files.

    If the storage belongs to another installation, nothing is deleted, because its files have no
    rows here.
    """
    if files_problem():
        return 0
    found = list(leftovers())
    for name in found:
        discard(name)
    return len(found)


def leftovers() -> Iterator[str]:
    before = timezone.now() - timedelta(hours=HOURS)
    # Match by pattern, because the storage may contain files that are not ours.
    ours = (entry for entry in storage().entries() if _name.fullmatch(entry.name))
    for folder, entries in groupby(ours, lambda entry: entry.name.partition("/")[0]):
        old = {entry.name for entry in entries if entry.modified_at < before}
        rows = StoredFile.objects.filter(storage_name__startswith=f"{folder}/")
        yield from sorted(old - set(rows.values_list("storage_name", flat=True)))
