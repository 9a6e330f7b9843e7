"""Runs jobs with Procrastinate's worker, which is notified (`NOTIFY`) of new jobs."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.db import DatabaseError, connection
from django.utils import timezone
from procrastinate import App, JobContext, PsycopgConnector, RetryDecision
from procrastinate.exceptions import ConnectorException, JobAborted, UniqueViolation
from procrastinate.job_context import AbortReason
from procrastinate.jobs import Job, Status
from procrastinate.retry import BaseRetryStrategy
from psycopg_pool import PoolTimeout

from apps import tracing
from apps.outages import Pauses
from apps.tasks.chore_task import task_of
from apps.tasks.failures import give_up, record_failure, record_lost
from apps.tasks.kinds import is_paused, kind_of
from apps.tasks.postgresql.backend import PAUSED_QUEUE, QUEUE, RERUN
from apps.tasks.postgresql.connections import make_connector
from apps.tasks.running import GRACE_SECONDS, JOBS_AT_ONCE, JobThreads
from apps.tasks.task import Task, all_chores, all_tasks

logger = logging.getLogger(__name__)

POLL_SECONDS = 10.0
"""The interval in seconds between checks for scheduled jobs that have become due. `NOTIFY`
announces only new jobs.
"""
ABORT_SECONDS = 30.0
LOST_SECONDS = 30.0
"""A job is lost if its process has sent no heartbeat for this many seconds. Processes send one
every ten seconds.
"""
MISSED_SECONDS = 24 * 3600.0
"""When a worker starts, it runs the chores that were missed within this many seconds."""


class PostgreSQLWorker:
    """Runs Procrastinate's worker in the event loop of this process."""

    async def run(self) -> None:
        """Run jobs until canceled. While the database is down, retry with growing pauses."""
        pauses = Pauses(1.0)
        threads = JobThreads()
        try:
            while True:
                try:
                    await work(threads)
                except Exception as error:
                    pauses.note(error)
                    # Procrastinate does not convert errors from a pool that cannot be opened.
                    is_outage = isinstance(error, ConnectorException | PoolTimeout)
                    trace = None if is_outage else error
                    logger.error("Failed to read jobs: %s", error, exc_info=trace)
                await asyncio.sleep(pauses.seconds)
        finally:
            threads.close()


async def work(threads: JobThreads) -> None:
    """Run Procrastinate's worker until its connection fails."""
    app = make_app(make_connector(), threads)
    async with app.open_async():
        await free_lost(app, threads)
        await app.run_worker_async(
            queues=[QUEUE],
            concurrency=JOBS_AT_ONCE,
            install_signal_handlers=False,
            listen_notify=not connection.settings_dict["DISABLE_SERVER_SIDE_CURSORS"],
            fetch_job_polling_interval=POLL_SECONDS,
            abort_job_polling_interval=ABORT_SECONDS,
            shutdown_graceful_timeout=GRACE_SECONDS,
            delete_jobs="successful",
        )


def make_app(connector: PsycopgConnector, threads: JobThreads) -> App:
    """Return a Procrastinate app with all tasks, and with the schedules of all chores."""
    app = App(connector=connector, periodic_defaults={"max_delay": MISSED_SECONDS})
    for task in all_tasks().values():
        app.task(name=task.key, pass_context=True, retry=Retries(task))(runner_of(task, threads))
    for chore in all_chores():
        task = task_of(chore)
        options: Any = {"task_kwargs": {"args": [chore.work]}, "priority": task.priority}
        locks: Any = {"lock": chore.work, "queueing_lock": chore.work}
        app.periodic(cron=chore.interval, periodic_id=chore.work, **options, **locks)(
            app.tasks[task.key]
        )

    @app.periodic(cron="* * * * *")
    @app.task(name=RERUN)
    async def rerun(timestamp: int) -> None:
        await free_lost(app, threads)

    return app


def runner_of(task: Task[Any, Any], threads: JobThreads) -> Callable[..., Awaitable[None]]:
    async def run(
        context: JobContext,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        timestamp: int = 0,  # An argument that Procrastinate adds to chores.
    ) -> None:
        tracing.begin_request(f"job-{context.job.id}")
        try:
            if await threads.call(is_paused, kind_of(task.key, context.job.lock)):
                raise NotStarted(PAUSED_QUEUE)
        except DatabaseError as error:
            raise NotStarted(QUEUE, timedelta(seconds=POLL_SECONDS)) from error
        try:
            await threads.call(task.func, *args, **(kwargs or {}))
        except asyncio.CancelledError:
            if context.abort_reason() == AbortReason.USER_REQUEST:
                raise JobAborted from None  # Without this, Procrastinate runs the job again.
            raise
        except Exception as error:
            attempt = context.job.attempts + 1
            job, pause = str(context.job.id), task.pause_after(attempt)
            await threads.call(record_failure, task.key, job, attempt, error, pause)
            if pause is None:
                await threads.call(give_up, task.key, args, kwargs or {})
            raise

    return run


class NotStarted(Exception):
    """Raised if a job's kind is paused, or if the paused kinds cannot be read. The job waits in
    `queue` for at least `pause`.
    """

    def __init__(self, queue: str, pause: timedelta = timedelta()) -> None:
        super().__init__(queue)
        self.queue, self.pause = queue, pause


class Retries(BaseRetryStrategy):
    def __init__(self, task: Task[Any, Any]) -> None:
        self.task = task

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, NotStarted):
            return RetryDecision(retry_at=timezone.now() + exception.pause, queue=exception.queue)
        if isinstance(exception, asyncio.CancelledError | JobAborted):  # The process is stopping.
            return RetryDecision(retry_at=timezone.now())
        pause = self.task.pause_after(job.attempts + 1)
        return None if pause is None else RetryDecision(retry_at=timezone.now() + pause)


async def free_lost(app: App, threads: JobThreads) -> None:
    """Release the jobs of killed processes, or give up on them if this has happened too often."""
    jobs = app.job_manager
    for job in await jobs.get_stalled_jobs(seconds_since_heartbeat=LOST_SECONDS):
        arguments = (job.task_name, str(job.id), job.attempts + 1)
        if job.task_name == RERUN or await threads.call(record_lost, *arguments):
            try:
                await jobs.retry_job(job)
            # Another job with the same lock is queued, and will do the same work.
            except UniqueViolation:
                await jobs.finish_job(job, status=Status.FAILED, delete_job=True)
        else:
            await jobs.finish_job(job, status=Status.FAILED, delete_job=False)
            given: Any = job.task_kwargs
            args, kwargs = given.get("args", ()), given.get("kwargs") or {}
            await threads.call(give_up, job.task_name, args, kwargs)
    await jobs.prune_stalled_workers(LOST_SECONDS)
