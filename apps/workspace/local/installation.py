"""Checks that all processes of an installation use the same files and keys.

The database stores the installation's ID and a fingerprint of its secret key. The file storage
contains the ID in a marker file.
"""

import uuid
from itertools import product

from django.conf import settings
from django.db import models, transaction
from django.utils.crypto import pbkdf2

from apps.workspace.local.files.directory_storage import (
    MARKER,
    DirectoryStorage,
    expect_marker,
)
from apps.workspace.local.files.file_storage import FileStorage
from apps.workspace.local.files.storage import storage

ROW = 1
"""The primary key of the only row of `Installation`."""
ITERATIONS = 100_000
"""The number of iterations that compute the fingerprint. It is the same as for the encryption of
stored keys, so that the fingerprint does not make the secret key easier to guess.
"""

FILES = (
    "The stored files belong to another installation: {problem}. Set FILES_URL to the bucket, or "
    "DATA_DIR to the folder, that all processes share. If you moved the files on purpose, run "
    "manage.py adopt_files."
)
KEYS = (
    "SECRET_KEY or SALT_KEY belongs to another installation: stored keys cannot be read here. Set "
    "the same SECRET_KEY, SECRET_KEY_FALLBACKS and SALT_KEY for all processes. If the old key is "
    "lost, run manage.py adopt_files --keys and enter all stored keys again."
)


class Installation(models.Model):
    """The only row of this table, which identifies the installation."""

    uuid = models.UUIDField(default=uuid.uuid4)
    key_fingerprint = models.CharField(max_length=64, default="")
    """A hash of the secret key and salt of the process that last wrote it."""
    read_only_since = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"installation {self.uuid}"


def register_process() -> list[str]:
    """Register this process with the installation. The first process creates the installation.
    Return the problems that `problems` reports.
    """
    # Use a transaction, so that no other process sees the row before the marker file exists.
    with transaction.atomic():
        row, is_new = Installation.objects.get_or_create(pk=ROW)
        if is_new:
            write_marker(row, storage())
            adopt_key(row)
    if row.key_fingerprint in fingerprints(row)[1:]:
        adopt_key(row)  # The key was rotated, and the old one is still accepted.
    files = storage()
    if isinstance(files, DirectoryStorage) and not problem_of_files(row):
        expect_marker(files.root, str(row.uuid))
    return problems_of(row)


def problems() -> list[str]:
    """Return one sentence for each difference between the files or keys of this process and those
    of the installation.
    """
    row = Installation.objects.filter(pk=ROW).first()
    return [] if row is None else problems_of(row)


def files_problem() -> str:
    """Return the reason why the stored files do not belong to the installation, or "" if they
    do.
    """
    row = Installation.objects.filter(pk=ROW).first()
    problem = "" if row is None else problem_of_files(row)
    return problem and FILES.format(problem=problem)


def problems_of(row: Installation) -> list[str]:
    problem = problem_of_files(row)
    found = [FILES.format(problem=problem)] if problem else []
    if row.key_fingerprint not in fingerprints(row):
        found.append(KEYS)
    return found


def problem_of_files(row: Installation) -> str:
    try:
        there = read_marker(storage())
    except (OSError, ValueError) as error:
        return f"{MARKER} cannot be read ({type(error).__name__})"
    if not there:
        return f"the file {MARKER} does not exist"
    return "" if there == str(row.uuid) else f"{MARKER} has the ID of another installation"


def read_marker(files: FileStorage) -> str:
    """Return the ID in the marker file of a storage, or "" if the storage has no such file. Raises
    OSError if it cannot be read, and ValueError if it is not ASCII.
    """
    try:
        with files.open(MARKER) as content:
            return content.whole().decode("ascii").strip()
    except FileNotFoundError:
        return ""


def write_marker(row: Installation, files: FileStorage) -> None:
    files.put(MARKER, [f"{row.uuid}\n".encode()])


def adopt_key(row: Installation) -> None:
    row.key_fingerprint = fingerprints(row)[0]
    row.save(update_fields=["key_fingerprint"])


def fingerprints(row: Installation) -> list[str]:
    """Return the fingerprint of each combination of secret key and salt with which this process can
    decrypt stored keys, newest first.
    """
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [
        pbkdf2(f"{key}\n{salt}", row.uuid.hex, ITERATIONS).hex()
        for key, salt in product(keys, settings.SALT_KEY)
    ]
