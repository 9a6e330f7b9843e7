"""Jobs find what is due at their time, from the previous sweep on, or from their planned time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from apps.live.models import Run
from apps.schedules import user_schedules
from apps.triggers.schedules import clock
from tests.contract import proves
from tests.tasks.jobs import run_waiting_jobs, taken_jobs
from tests.triggers.rows import add_schedule, add_user, application_of

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def times_enqueued() -> list[Any]:
    return [args[0] for key, args, _ in taken_jobs() if key == "triggers.fire_at"]


def test_a_sweep_asks_what_is_due_and_enqueues_jobs_until_the_next_one():
    application, ada = application_of(), add_user()
    now = timezone.now().replace(microsecond=0)
    soon, later = now + timedelta(seconds=40), now + timedelta(minutes=5)
    for at in (now, soon, soon - timedelta(milliseconds=700), later):
        row = add_schedule(application, ada, start_at=at)
        assert row.next_at == at

    assert async_to_sync(clock.sweep)() == 1

    assert times_enqueued() == [soon.isoformat()]
    assert Run.objects.count() == 1


@proves("D-42")
def test_a_schedule_that_is_planned_shortly_before_its_time_is_asked_at_it():
    row = add_schedule(application_of(), add_user(), start_at=timezone.now() + timedelta(hours=1))
    user_schedules.replan(row)
    assert times_enqueued() == []

    row.start_at = timezone.now() + timedelta(seconds=0.2)
    user_schedules.replan(row)
    async_to_sync(run_waiting_jobs)()

    run = Run.objects.get()
    assert run.started_at >= row.start_at
