"""The version before the newest migration, from the history of the repository, as a separate site."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tests.sites.fork_server import ROOT
from tests.sites.serving import Site, empty_site, wait_until_it_answers

MIGRATIONS = ":(glob)apps/**/migrations/*.py"
NO_HISTORY = (
    "The repository's history has no previous version that the installed packages can serve."
)


def git(*arguments: str) -> bytes:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True).stdout


@functools.cache
def previous_commit() -> str:
    """Return the newest commit that lacks a current migration and has no other one, or "" if the
    installed packages cannot serve any."""
    log = ("log", "--first-parent", "-m", "--diff-filter=A", "--format=%H", "--", MIGRATIONS)
    try:
        befores = [f"{commit}^1" for commit in git(*log).decode().split()]
        found = next((one for one in befores if can_serve(one)), None)
        return "" if found is None else git("rev-parse", "--verify", found).decode().strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def can_serve(commit: str) -> bool:
    """Return False also for a commit whose migrations were renumbered later, because it creates a
    different database."""
    is_older = migrations_of(commit) < migrations_of("HEAD")
    return is_older and packages_of(commit) <= packages_of("HEAD")


def packages_of(commit: str) -> set[str]:
    lines = git("show", f"{commit}:requirements.txt").decode().splitlines()
    return {line.partition("==")[0] for line in lines if "==" in line}


def migrations_of(commit: str) -> set[str]:
    listed = git("ls-tree", "-r", "--name-only", commit, "apps").decode().split()
    return {path for path in listed if "/migrations/" in path}


def unpack_previous(folder: Path) -> Path:
    """Write the files of the previous version below a folder. Return their root."""
    source = folder / "previous"
    source.mkdir()
    archive = git("archive", previous_commit())
    subprocess.run(["tar", "-x", "-C", str(source)], input=archive, check=True)
    return source


def previous_site(folder: Path, source: Path, **settings: str) -> Site:
    """Create a site that is not served yet, with its own static files."""
    site = empty_site(folder, STATIC_DIR=str(source / "static"), **settings)
    return replace(site, environment={**site.environment, "PYTHONPATH": str(source)})


@contextmanager
def serving_previous(site: Site, source: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Serve the previous version, which prepares the database in its own way."""
    command = [sys.executable, "-m", "quickapps_site.serve", "--prepare"]
    with site.log.open("ab") as output, Path(os.devnull).open("rb") as nothing:
        process = subprocess.Popen(
            command,
            cwd=source,
            env=site.environment,
            stdin=nothing,
            stdout=output,
            stderr=output,
        )
    try:
        wait_until_it_answers(site, process)
        yield process
    finally:
        process.terminate()
        process.wait(60)
