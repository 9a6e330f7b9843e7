"""`serve --prepare` sets up a site in an empty folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen
from uuid import uuid4

import pytest

from quickapps_site.serve import run_in_child
from tests.databases import postgresql
from tests.services import absence
from tests.sites.fork_server import ROOT
from tests.sites.serving import (
    DATABASE,
    Site,
    close_shell,
    empty_site,
    migrated_database,
    running,
    site_environment,
    start,
    wait_until_it_answers,
)


@contextmanager
def prepared(folder: Path) -> Iterator[Site]:
    site = empty_site(folder)
    with running(site, arguments=["--prepare"]):
        yield site


@contextmanager
def new_database(engine: str, folder: Path, *, has_tables: bool) -> Iterator[str]:
    if engine == "sqlite":
        path = folder / "shared.sqlite3"
        if has_tables:
            shutil.copy(migrated_database(), path)
        yield f"sqlite:///{path}"
        return
    if reason := absence("postgres"):
        pytest.skip(reason)
    name = f"shared_{uuid4().hex[:12]}"
    postgresql.create(name, postgresql.tables() if has_tables else "")
    try:
        yield postgresql.address_of(name)
    finally:
        postgresql.drop(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with new_database(request.param, tmp_path, has_tables=False) as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def latest_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with new_database(request.param, tmp_path, has_tables=True) as address:
        yield address


@pytest.mark.slow("starts two sites in processes of their own")
@pytest.mark.full
@pytest.mark.timeout(900)
def test_processes_that_start_at_once_prepare_an_empty_database_once(
    tmp_path: Path, empty_database: str
) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    shared = {"DATABASE_URL": empty_database, "DATA_DIR": str(tmp_path / "data")}
    sites = [empty_site(folder, **shared) for folder in folders]
    forks = [start(site, arguments=["--prepare"]) for site in sites]
    try:
        for site, fork in zip(sites, forks, strict=True):
            wait_until_it_answers(site, fork)
        ready = [json.load(urlopen(f"{site.url}/readyz", timeout=60)) for site in sites]
        administrators = sites[0].shell(
            "result = list(User.objects.filter(is_superuser=True).values_list('username', flat=True))"
        )
    finally:
        for site, fork in zip(sites, forks, strict=True):
            close_shell(site)
            fork.stop(60)

    assert ready == [{"status": "ok"}] * 2
    assert administrators == ["admin"]
    logs = "".join(site.log.read_text() for site in sites)
    assert len(re.findall(r"^Password: ", logs, re.MULTILINE)) == 1


APPLIED = """
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("SELECT app, name FROM django_migrations")
    result = sorted(map(list, cursor.fetchall()))
"""
OLDER = (("runs", "0002_runs_to_compact"), ("workspace", "0002_installation"))
"""States to which the migrations after them can be reversed."""


@pytest.mark.slow("starts two sites in processes of their own")
@pytest.mark.full
@pytest.mark.timeout(900)
def test_processes_that_start_at_once_migrate_an_outdated_database_once(
    tmp_path: Path, latest_database: str
) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    shared = {"DATABASE_URL": latest_database, "DATA_DIR": str(tmp_path / "data")}
    sites = [empty_site(folder, **shared) for folder in folders]
    newest = sites[0].shell(APPLIED)
    for app, name in OLDER:
        sites[0].manage("migrate", "--verbosity", "0", app, name)
    outdated = sites[0].shell(APPLIED)
    forks = [start(site, arguments=["--prepare"]) for site in sites]
    try:
        for site, fork in zip(sites, forks, strict=True):
            wait_until_it_answers(site, fork)
        ready = [json.load(urlopen(f"{site.url}/readyz", timeout=60)) for site in sites]
        applied = sites[0].shell(APPLIED)
    finally:
        for site, fork in zip(sites, forks, strict=True):
            close_shell(site)
            fork.stop(60)

    assert len(outdated) < len(newest)
    assert ready == [{"status": "ok"}] * 2
    assert applied == newest


@pytest.mark.slow("starts a site in a process of its own")
@pytest.mark.full
def test_an_empty_folder_becomes_a_site_with_one_administrator_and_starts_again_as_it_was(
    tmp_path: Path,
) -> None:
    with prepared(tmp_path) as site:
        page = urlopen(f"{site.url}/chat/demo/", timeout=60).read().decode()
        accounts = site.shell(
            """
            from apps.catalog.models import Application
            from django.contrib.auth import authenticate
            from django.contrib.auth.models import User
            result = [
                [user.username, bool(authenticate(username=user.username, password=password))]
                for user in User.objects.filter(is_superuser=True)
            ]
            Application.objects.filter(slug="demo").update(title="Ours")
            """,
            password=re.findall(r"^Password: (\S+)$", site.log.read_text(), re.MULTILINE)[0],
        )

    with prepared(tmp_path) as site:
        again = urlopen(f"{site.url}/chat/demo/", timeout=60).read().decode()
        log = site.log.read_text()

    assert "Demo" in page
    assert accounts == [["admin", True]]
    assert "Ours" in again
    assert "Password" not in log


def test_content_that_cannot_be_imported_ends_the_start_with_the_reason(tmp_path: Path) -> None:
    folder = tmp_path / "application"
    folder.mkdir()
    (folder / "broken.json").write_text('{"slug": "broken", "title": "Broken", "manifest": 7}')
    extra = json.dumps([str(tmp_path)])
    environment = site_environment(tmp_path / "data", 8000, PREDEFINED_EXTRA_PATHS=extra)
    (tmp_path / "data").mkdir()
    shutil.copy(migrated_database(), tmp_path / "data" / DATABASE)

    done = subprocess.run(
        [sys.executable, "-m", "quickapps_site.serve", "--prepare"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
    )

    assert done.returncode == 1
    assert "Nothing was imported.\napplication/broken.json: " in done.stderr
    assert "Traceback" not in done.stderr


def test_the_preparation_leaves_nothing_in_the_memory_of_the_server(tmp_path: Path):
    loaded: list[int] = []

    def work() -> int:
        loaded.append(os.getpid())
        (tmp_path / "pid").write_text(str(loaded[0]))
        return 3

    assert run_in_child(work) == 3
    assert loaded == []
    assert int((tmp_path / "pid").read_text()) != os.getpid()


def test_a_failure_of_the_preparation_is_shown_and_ends_the_start(
    capfd: pytest.CaptureFixture[str],
):
    def work() -> int:
        raise OSError("disk full")

    assert run_in_child(work) == 1
    assert "OSError: disk full" in capfd.readouterr().err
