"""Loads the applications in the managed directories (`CONTENT_PATHS`). Operators cannot edit these
applications.

Every process checks for changed files. The first process that notices a change saves the
applications, each with a hash of its files, so that other processes do not load them again.
"""

import hashlib
import logging
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from apps import process_state
from apps.catalog.application_files.file_kinds import APPLICATION
from apps.catalog.application_files.models import ApplicationSource
from apps.catalog.application_files.parts import save_source
from apps.catalog.application_files.reader import read_application
from apps.catalog.application_files.row_directories import application_folders, read_folder_files
from apps.catalog.application_files.row_files import ContentInvalid
from apps.catalog.application_files.row_import import (
    case_problems,
    import_item,
    validation_problems,
)
from apps.catalog.content.folders import Mark
from apps.catalog.history.actors import Actor, acting
from apps.catalog.models import Application, Change

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LoadedDirectories:
    """The result of this process's last read of the managed directories. `at` is the monotonic time
    of that read, in seconds.
    """

    directories: tuple[Path, ...]
    marks: Mapping[str, Mark]
    problems: tuple[str, ...]
    at: float


_last: LoadedDirectories | None = None
_loading = Lock()


def managed_directories() -> tuple[Path, ...]:
    return tuple(map(Path, settings.CONTENT_PATHS))


def refresh() -> None:
    """Load the managed files that have changed, unless the last check was recent. Never raises."""
    directories = managed_directories()
    if not directories or is_recent(directories):
        return
    with _loading:
        if not is_recent(directories):
            try:
                look(directories)
            except Exception:
                logger.exception("Failed to load the managed directories")


def load_at_start() -> None:
    """Load all managed directories. Make an application editable if its directory is no longer in
    the settings.
    """
    with _loading:
        look(managed_directories())


def is_recent(directories: tuple[Path, ...]) -> bool:
    if _last is None or _last.directories != directories:
        return False
    return time.monotonic() - _last.at < process_state.MAX_AGE_SECONDS


def look(directories: tuple[Path, ...]) -> None:
    global _last
    at = time.monotonic()
    marks = marks_of(directories)  # Read first, so that the next check notices later changes.
    before = _last if _last is not None and _last.directories == directories else None
    if before is not None and before.marks == marks:
        _last = LoadedDirectories(directories, marks, before.problems, at)
        return
    try:
        problems = tuple(load(directories))
    except IntegrityError:  # Another process has just created the same application.
        logger.info("Managed directories: another process loaded them at the same time")
        return
    for problem in problems:
        if before is None or problem not in before.problems:
            logger.warning("Managed directories: %s", problem)
    _last = LoadedDirectories(directories, marks, problems, at)


def last_problems() -> tuple[str, ...]:
    """Return an error of the form `file: line: path: error` for each managed file that could not be
    loaded.
    """
    is_present = _last is not None and _last.directories == managed_directories()
    return _last.problems if _last is not None and is_present else ()


def forget_files() -> None:
    """Make the next call to `refresh` read all files again."""
    global _last
    _last = None


def marks_of(directories: Sequence[Path]) -> dict[str, Mark]:
    marks: dict[str, Mark] = {}
    for directory in directories:
        for parent, folders, files in os.walk(directory / APPLICATION.name):
            for name in (*folders, *files):
                path = f"{parent}/{name}"
                with suppress(OSError):  # The file may disappear in the meantime.
                    found = os.stat(path)  # noqa: PTH116 it runs every second, a Path costs more
                    marks[path] = found.st_mtime_ns, found.st_size, found.st_ino
    return marks


# --- Loading ------------------------------------------------------------------------------------


def load(directories: Sequence[Path]) -> Iterator[str]:
    """Load each managed application separately. Yield the problems with applications that cannot be
    loaded. Such applications remain unchanged.
    """
    known = {
        slug: (directory, digest)
        for slug, directory, digest in ApplicationSource.objects.exclude(directory="").values_list(
            "application__slug", "directory", "digest"
        )
    }
    present: set[tuple[str, str]] = set()
    for directory in directories:
        if not directory.is_dir():
            yield f"{directory}: the directory does not exist."
            present |= {(slug, of) for slug, (of, _) in known.items() if of == str(directory)}
            continue
        for stray in sorted((directory / APPLICATION.name).glob("*.json")):
            yield f"{stray}: a managed directory contains folders; use export_content to write them."
        for folder in application_folders(directory):
            present.add((folder.name, str(directory)))
            try:
                load_folder(folder, directory, known.get(folder.name))
            except ContentInvalid as error:
                yield from (f"{directory}/{problem}" for problem in error.problems)
    gone = [slug for slug, (directory, _) in known.items() if (slug, directory) not in present]
    release(gone)


def file_problems() -> Iterator[str]:
    """Yield the problems in managed files that cannot be parsed. Does not use the database."""
    for directory in managed_directories():
        if not directory.is_dir():
            yield f"{directory}: the directory does not exist."
            continue
        for folder in application_folders(directory):
            try:
                read_application(folder.name, read_folder_files(folder, directory))
            except ContentInvalid as error:
                yield from (f"{directory}/{problem}" for problem in error.problems)


def load_folder(folder: Path, directory: Path, known: tuple[str, str] | None) -> None:
    """Save the application in the folder, unless its files are unchanged. `known` is the directory
    and hash that are stored with the application, or None if it is new.

    Raises `ContentInvalid` if the files are invalid, and `IntegrityError` if another process has
    just saved the same application.
    """
    files = read_folder_files(folder, directory)
    digest = digest_of(files)
    if known == (str(directory), digest):
        return
    item = read_application(folder.name, files)
    with transaction.atomic(), acting(Actor(None, Change.Via.IMPORT, item.file)):
        if is_loaded(item.key, str(directory), digest):
            return
        is_ours = known is not None and known[0] == str(directory)
        try:
            outcome = import_item(item, overwrite=is_ours, directory=str(directory))
        except ValidationError as error:
            raise ContentInvalid(tuple(validation_problems(item, error))) from error
        if outcome.action == "kept":
            raise ContentInvalid((f"{item.file}: {conflict_message(item.key)}",))
        if problems := case_problems(outcome, overwrite=True):
            raise ContentInvalid(tuple(problems))
        row, source = outcome.row, item.parts.source if item.parts is not None else ""
        assert isinstance(row, Application)  # noqa: S101 folders hold nothing else
        save_source(row, source, str(directory), digest)
    logger.info("Managed directories: %s application %s", outcome.action, item.key)


def digest_of(files: Mapping[str, bytes]) -> str:
    found = hashlib.sha256()
    for name, content in sorted(files.items()):
        found.update(f"{name}\0{len(content)}\0".encode() + content)
    return found.hexdigest()


def is_loaded(slug: str, directory: str, digest: str) -> bool:
    """Return True if another process has already loaded the files with this hash. Lock the
    application's row until the transaction ends.
    """
    row = Application.objects.select_for_update(of=("self",)).filter(slug=slug).first()
    sources = ApplicationSource.objects.filter(application=row, directory=directory, digest=digest)
    return row is not None and sources.exists()


def conflict_message(slug: str) -> str:
    source = ApplicationSource.objects.filter(application__slug=slug).first()
    if source is not None and source.directory:
        return f"{slug!r} is already in {source.directory}; remove one of them."
    return (
        f"an operator has created or changed an application with the slug {slug!r}; delete it, or "
        "rename one of the two."
    )


def release(slugs: Sequence[str]) -> None:
    """Make the applications with these slugs editable, because their managed files were deleted."""
    if not slugs:
        return
    rows = ApplicationSource.objects.filter(application__slug__in=slugs)
    rows.update(directory="", digest="")
    logger.warning(
        "Managed directories: removed from files, and now editable in the admin: %s",
        ", ".join(slugs),
    )
