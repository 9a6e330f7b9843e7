"""Stored files are copied to another storage, complete and unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from apps.workspace.local.files import files
from apps.workspace.local.files.directory_storage import DirectoryStorage
from apps.workspace.local.files.file_copies import CopyOutcome, DamagedCopy, copy_files
from apps.workspace.local.files.storage import storage
from apps.workspace.local.models import StoredFile

# Other threads read no rows here, so the transaction of the test is enough.
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage"), pytest.mark.postgres]


@pytest.fixture
def target(tmp_path_factory: pytest.TempPathFactory) -> DirectoryStorage:
    return DirectoryStorage(tmp_path_factory.mktemp("target"))


def keep(*names: str) -> dict[str, str]:
    """Return the names in the storage by file name."""
    for name in names:
        files.keep("user-1", name, name.encode(), "text/plain")
    return dict(StoredFile.objects.values_list("name", "storage_name"))


def copied(target: DirectoryStorage, *, verify_all: bool = False) -> dict[CopyOutcome, int]:
    reports = [dict(one.files) for one in copy_files(storage(), target, verify_all=verify_all)]
    return reports[-1] if reports else {}


def contents(target: DirectoryStorage) -> dict[str, bytes]:
    return {one.name: (Path(target.root) / one.name).read_bytes() for one in target.entries()}


def test_every_file_is_copied_and_a_second_time_none(target):
    names = keep("a.txt", "b.txt")

    first, second = copied(target), copied(target)

    assert (first, second) == ({CopyOutcome.COPIED: 2}, {CopyOutcome.PRESENT: 2})
    assert contents(target) == {names["a.txt"]: b"a.txt", names["b.txt"]: b"b.txt"}


def test_nothing_is_copied_where_there_is_nothing(target):
    assert (copied(target), contents(target)) == ({}, {})


def test_what_was_stored_meanwhile_and_what_was_cut_off_is_copied_the_second_time(target):
    names = keep("a.txt", "b.txt")
    copied(target)
    target.put(names["b.txt"], [b"b"])
    keep("c.txt")

    assert copied(target) == {CopyOutcome.PRESENT: 1, CopyOutcome.COPIED: 2}
    assert sorted(contents(target).values()) == [b"a.txt", b"b.txt", b"c.txt"]


def test_other_bytes_of_the_same_size_are_found_when_all_are_verified(target):
    names = keep("a.txt")
    target.put(names["a.txt"], [b"other"])

    assert copied(target) == {CopyOutcome.PRESENT: 1}
    assert copied(target, verify_all=True) == {CopyOutcome.COPIED: 1}
    assert contents(target) == {names["a.txt"]: b"a.txt"}


def test_files_that_are_lost_or_altered_in_the_source_are_reported(target):
    names = keep("altered.txt", "lost.txt", "whole.txt")
    storage().delete(names["lost.txt"])
    storage().put(names["altered.txt"], [b"something else"])

    *_, report = copy_files(storage(), target, verify_all=False)

    assert report.files == {CopyOutcome.ALTERED: 1, CopyOutcome.MISSING: 1, CopyOutcome.COPIED: 1}
    assert sorted(report.lost) == sorted([names["altered.txt"], names["lost.txt"]])
    assert sorted(contents(target).values()) == [b"something else", b"whole.txt"]


def test_a_target_that_returns_other_bytes_stops_the_copying(target, monkeypatch):
    keep("a.txt")
    put = DirectoryStorage.put
    monkeypatch.setattr(
        DirectoryStorage, "put", lambda self, name, pieces: put(self, name, [*pieces, b"!"])
    )

    with pytest.raises(DamagedCopy, match="returned different content for"):
        copied(target)

    assert contents(target) == {}
