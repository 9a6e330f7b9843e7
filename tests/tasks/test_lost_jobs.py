"""A job whose process is killed runs again, but not endlessly if it kills its process itself."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.load.processes import until
from tests.sites.serving import new_site, start
from tests.tasks.jobs import LEASES_ARE_OVER

pytestmark = pytest.mark.full

PATIENCE = 60.0
ENQUEUE = """
from tests.tasks import jobs
jobs.kill_process.enqueue()
"""
LOST = """
mine = TaskFailure.objects.filter(task="tests.kill_process").order_by("pk")
result = list(mine.values_list("attempt", "is_lost", "is_final"))
"""
FAILED = """
from apps.tasks.status import queue
result = len(queue().jobs("failed", "tests.kill_process", 9))
"""
RETRIED = """
from apps.tasks.status import queue
failure = TaskFailure.objects.filter(is_final=True, task="tests.kill_process").get()
result = [
    len(queue().jobs("failed", "tests.kill_process", 9)),
    failure.error,
    queue().retry(failure.job),
    len(queue().jobs("failed", "tests.kill_process", 9)),
]
"""


@pytest.mark.slow("five processes are killed, one after the other")
def test_a_job_that_kills_its_process_fails_after_five_attempts(
    tmp_path: Path, engine: dict[str, str]
):
    site = new_site(tmp_path, **engine)
    site.shell(ENQUEUE)

    for attempt in range(1, 6):
        worker = start(site, "tests.tasks.worker_program")
        assert worker.wait(PATIENCE) == -signal.SIGKILL
        site.shell(LEASES_ARE_OVER)
        assert len(site.shell(LOST)) == attempt - 1
    idle = start(site, "tests.tasks.worker_program")
    assert until(PATIENCE, lambda: site.shell(FAILED) == 1)
    idle.stop(PATIENCE)

    assert site.shell(LOST) == [
        *([attempt, True, False] for attempt in range(1, 5)),
        [5, True, True],
    ]
    assert site.shell(RETRIED) == [
        1,
        "The process of the worker was killed while this job ran, 5 of 5 times.",
        True,
        0,
    ]
