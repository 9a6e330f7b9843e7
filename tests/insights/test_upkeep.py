"""Days that are summed up, and rows that are deleted."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
import time_machine

from apps.insights import upkeep
from apps.insights.models import DailyUsage, ModelCall, SummedDay, ToolUse
from apps.insights.upkeep import delete_old, sum_up, sum_up_days
from tests.insights.calls import NOON, model_call, store, tool_use

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
MIDNIGHT = NOON.replace(hour=0)


def test_a_day_is_summed_up_some_hours_after_its_end():
    store(model_call(), tool_use())

    with time_machine.travel(MIDNIGHT + DAY + upkeep.LATE - timedelta(seconds=1)):
        early = sum_up_days()
    with time_machine.travel(MIDNIGHT + DAY + upkeep.LATE):
        due, again = sum_up_days(), sum_up_days()

    assert (early, due, again) == (0, 1, 0)
    assert list(SummedDay.objects.values_list("day", flat=True)) == [NOON.date()]
    assert DailyUsage.objects.count() == 2


def test_every_day_since_the_first_call_is_summed_up_once():
    store(model_call(), model_call(started_at=NOON + 2 * DAY))

    with time_machine.travel(NOON + 4 * DAY):
        done = sum_up_days()

    assert done == 4
    assert list(DailyUsage.objects.order_by("day").values_list("day", "calls")) == [
        (date(2026, 3, 1), 1), (date(2026, 3, 3), 1)
    ]  # fmt: skip


def test_a_process_that_comes_second_writes_nothing():
    store(model_call())

    first, second = sum_up(NOON.date()), sum_up(NOON.date())

    assert (first, second) == (True, False)
    assert DailyUsage.objects.get().calls == 1


def test_a_day_whose_sums_could_not_be_written_stays_due(monkeypatch):
    store(model_call())
    monkeypatch.setattr(DailyUsage.objects, "bulk_create", lambda *rows, **how: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        sum_up(NOON.date())

    assert not SummedDay.objects.exists()


@pytest.mark.parametrize(("days", "left"), [(0, 3), (2, 1), (400, 3)])
def test_old_rows_are_deleted(settings, monkeypatch, days, left):
    settings.USAGE_DAYS = days
    monkeypatch.setattr(upkeep, "AT_ONCE", 1)
    for age in (1, 3, 4):
        store(model_call(started_at=NOON - age * DAY), tool_use(started_at=NOON - age * DAY))

    with time_machine.travel(NOON):
        sum_up_days()
        deleted = delete_old()

    assert deleted == 2 * (3 - left)
    assert (ModelCall.objects.count(), ToolUse.objects.count()) == (left, left)
    assert sum(DailyUsage.objects.values_list("calls", flat=True)) == 6


def test_rows_that_are_not_summed_up_stay(settings):
    settings.USAGE_DAYS = 1
    store(model_call(started_at=NOON - 3 * DAY))

    with time_machine.travel(NOON):
        deleted = delete_old()

    assert deleted == 0
