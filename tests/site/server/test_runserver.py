"""`manage.py runserver` serves, and reports that it runs no background jobs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "manage.py", "runserver", "--noreload", "--skip-checks", "127.0.0.1:0"]


@pytest.mark.slow("starts a process of the site")
def test_it_says_at_its_start_that_schedules_and_subscriptions_do_not_fire(tmp_path: Path):
    environment = {
        **os.environ,
        "DATA_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3",
        "REDIS_URL": "",
    }
    with subprocess.Popen(
        COMMAND,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env=environment,
    ) as process:
        assert process.stderr is not None
        said = next(line for line in process.stderr if "runserver" in line)
        process.kill()

    assert "schedules, alarms and subscriptions do not fire" in said
    assert "Use `make run` for a server with background work." in said
