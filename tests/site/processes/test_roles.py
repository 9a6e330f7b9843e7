"""Processes that only serve the site, and processes that only run background jobs."""

from __future__ import annotations

import os
from pathlib import Path

import httpx
import pytest

from tests.databases.postgresql import address_of, database
from tests.load.processes import until
from tests.sites.serving import new_site, serve_process, start
from tests.tables import each_row

pytestmark = pytest.mark.full

PATIENCE = 60.0
CHORES = """
result = ChoreRun.objects.count()
"""


@pytest.mark.skipif("TEST_DATABASE_URL" not in os.environ, reason="needs TEST_DATABASE_URL")
@pytest.mark.slow("starts two sites in processes of their own")
def test_a_worker_runs_the_jobs_of_sites_that_run_none(tmp_path: Path):
    with database() as name:
        settings = {"DATABASE_URL": address_of(name)}
        with serve_process(tmp_path, arguments=["--web"], **settings) as (site, _):
            page = httpx.get(f"{site.url}/accounts/login/", timeout=PATIENCE).status_code
            done_by_site = site.shell(CHORES)
            with serve_process(tmp_path, arguments=["--worker"], **settings) as (worker, process):
                paths = ("/healthz", "/readyz", "/accounts/login/", "/v1/models")
                answers = [httpx.get(f"{worker.url}{path}", timeout=PATIENCE) for path in paths]
                assert until(PATIENCE, lambda: worker.shell(CHORES))
                process.stop(PATIENCE)

    assert (page, done_by_site) == (200, 0)
    assert [answer.status_code for answer in answers] == [200, 200, 404, 404]
    assert answers[2].json()["error"]["message"] == (
        "Unknown path: '/accounts/login/'. This process runs background jobs."
    )
    assert process.status == 0


@each_row(("role", "settings"), [("--web", {}), ("--worker", {}), ("", {"ROLE": "worker"})])
@pytest.mark.slow("starts a site in a process of its own")
def test_roles_are_refused_with_sqlite(tmp_path: Path, role: str, settings: dict[str, str]):
    site = new_site(tmp_path, **settings)

    status = start(site, arguments=[role]).wait(PATIENCE)

    assert status == 1
    assert "with SQLite one process serves the site and runs the background jobs" in (
        site.log.read_text()
    )
