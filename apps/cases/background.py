"""Runs test cases in background jobs, so that a run outlives the process that started it."""

from __future__ import annotations

from channels.db import database_sync_to_async
from django.contrib.auth.models import User
from django.db import transaction

from apps.cases.models import CaseRun
from apps.cases.runner import CaseRunRequest, begin, carry_out, finish
from apps.catalog.models import Application
from apps.live.hub import HUB
from apps.tasks.task import task

ABANDONED = "The job that ran the test cases was canceled, or its process was killed too often."


@transaction.atomic
def begin_later(application: Application, user: User | None, request: CaseRunRequest) -> CaseRun:
    """Store a run of test cases, and enqueue its job. Raises the same errors as `begin`."""
    run = begin(application, user, request)
    carry_out_run.enqueue(run.pk, None if request.cases is None else sorted(request.cases))
    return run


def finish_abandoned(run: int, cases: list[int] | None) -> None:
    row = CaseRun.objects.filter(pk=run, state=CaseRun.State.RUNNING).first()
    if row is not None:
        finish(row, ABANDONED)


@task("cases.carry_out", title="Runs of test cases", given_up=finish_abandoned)
async def carry_out_run(run: int, cases: list[int] | None) -> None:
    """Make the attempts of a run that have no stored result. `cases` are the IDs of test cases, or
    None for all.
    """
    rows = CaseRun.objects.filter(pk=run, state=CaseRun.State.RUNNING)
    row: CaseRun | None = await database_sync_to_async(rows.first)()
    if row is not None:
        await carry_out(HUB, row, cases)
