"""An idle process sends at most one database statement per second."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.load.processes import until
from tests.site.processes.counting_site import STATEMENTS
from tests.sites.serving import serve_process

pytestmark = pytest.mark.full

PATIENCE = 180.0
SECONDS = 60.0
"""The interval of the most frequent maintenance jobs."""
CHORES = """
from apps.tasks.task import all_chores

result = ChoreRun.objects.count() == len([*all_chores()])
"""
QUIET = """
from apps.tasks.status import queue

result = not any(queue().counts().values())
"""


@pytest.mark.slow("counts what a process does that nobody uses")
def test_an_idle_process_sends_at_most_one_statement_a_second(
    tmp_path: Path, engine: dict[str, str]
):
    with serve_process(tmp_path, "tests.site.processes.counting_site", **engine) as (site, _):
        assert until(PATIENCE, lambda: site.shell(CHORES))
        wait_for_quiet_minute()
        assert until(PATIENCE, lambda: site.shell(QUIET))
        statements = tmp_path / STATEMENTS
        before = lines_of(statements)
        time.sleep(SECONDS)
        sent = lines_of(statements) - before

    assert sent <= SECONDS


def wait_for_quiet_minute() -> None:
    """Wait for the middle of a minute, so that the interval has the jobs of the next minute once,
    and until that is a minute with only the most frequent jobs."""
    while (
        (minute := time.gmtime(time.time() + SECONDS).tm_min) % 5 == 0
        or minute == 7
        or not 15 < time.gmtime().tm_sec < 45
    ):
        time.sleep(1.0)


def lines_of(path: Path) -> int:
    return len(path.read_text().splitlines())
