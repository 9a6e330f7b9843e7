"""Bytes in the storage that no row points at, left behind by killed processes and by outages of the disk."""

import re
from collections.abc import Iterator
from datetime import timedelta

from django.core.files.storage import default_storage
from django.utils import timezone

from apps.workspace.local.file_store import discard
from apps.workspace.local.models import StoredFile

HOURS = 24
"""Bytes are stored before their row, so younger ones may still get one."""

_folder = re.compile(r"[0-9a-f]{2}")
_name = re.compile(r"[0-9a-f]{32}")


def delete_leftovers() -> int:
    """Search the whole storage; return the number of deleted files."""
    found = list(leftovers())
    for name in found:
        discard(name)
    return len(found)


def leftovers() -> Iterator[str]:
    before = timezone.now() - timedelta(hours=HOURS)
    for folder in names("", _folder, folders=True):
        found = {f"{folder}/{name}" for name in names(folder, _name)}
        rows = StoredFile.objects.filter(storage_name__startswith=f"{folder}/")
        for name in sorted(found - set(rows.values_list("storage_name", flat=True))):
            if default_storage.get_modified_time(name) < before:
                yield name


def names(folder: str, pattern: re.Pattern[str], *, folders: bool = False) -> list[str]:
    # By pattern, because the storage may hold files that are not ours.
    try:
        inner, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return []
    return sorted(filter(pattern.fullmatch, inner if folders else files))
