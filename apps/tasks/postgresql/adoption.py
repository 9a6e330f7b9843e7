"""Migrates the jobs of an installation that has moved from SQLite."""

from procrastinate.contrib.django import app

from apps.tasks.models import QueuedJob


def adopt_embedded_jobs() -> None:
    """Move queued and interrupted jobs from the embedded queue's table to Procrastinate, and delete
    failed jobs.
    """
    for row in QueuedJob.objects.exclude(status=QueuedJob.Status.FAILED).order_by("pk"):
        lock = row.lock or None
        app.configure_task(
            row.task,
            priority=row.priority,
            schedule_at=row.run_after,
            lock=lock,
            queueing_lock=lock if row.status == QueuedJob.Status.READY else None,
        ).defer(**row.arguments)
    QueuedJob.objects.all().delete()
