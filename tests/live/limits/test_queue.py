"""The order of queued runs: limits of parallel runs, and fairness among the waiting users."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.db import connection, transaction

from apps.errors import Refused, TooManyRuns
from apps.live import leases
from apps.live.hub import Hub
from apps.live.leases import stop_run
from apps.live.limits import queue
from apps.live.limits.queue import ActiveRunCounts, next_up
from apps.live.limits.quotas import RunSlots
from apps.live.models import Run
from apps.live.process.sweeper import Sweeper
from tests.contract import proves
from tests.live.records import PATIENCE, held_run, new_run

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@pytest.fixture(autouse=True)
def limits(settings: Any) -> Any:
    settings.RUNS_PER_PERSON, settings.RUNS_PER_KEY = 2, 3
    settings.RUNS_PER_APPLICATION, settings.RUNS_PER_PROCESS = 4, 0
    return settings


def run_of(name: str, **fields: Any) -> Run:
    """Return a run: `anna@shop` is a run of hers there."""
    bucket, _, application = name.partition("@")
    return new_run(bucket=bucket, application=application or "demo", **fields)


def going(*names: str) -> ActiveRunCounts:
    runs = [run_of(name) for name in names]
    return ActiveRunCounts(
        Counter(run.bucket for run in runs), Counter(run.application for run in runs)
    )


LINES = [
    ([], [], 9, []),
    (["anna"], [], 0, []),
    (["anna", "ben"], [], 1, ["anna"]),
    (["anna", "anna", "anna"], [], 9, ["anna", "anna"]),
    (["anna", "anna"], ["anna"], 9, ["anna"]),
    (["anna", "ben"], ["anna", "anna"], 9, ["ben"]),
    (["anna@shop", "anna@shop"], ["anna@demo", "anna@demo"], 9, []),
    (["key-1", "key-1", "key-1", "key-1"], [], 9, ["key-1", "key-1", "key-1"]),
    (["anna@shop", "ben@demo"], ["a@shop", "b@shop", "c@shop", "d@shop"], 9, ["ben"]),
    (["anna@shop", "ben@shop"], ["a@shop", "b@shop", "c@shop"], 9, ["anna"]),
]


def test_the_first_in_line_start_for_whom_there_is_room(subtests: pytest.Subtests):
    for line, working, room, starting in LINES:
        with subtests.test(line=line):
            chosen = next_up([run_of(name) for name in line], going(*working), room)

            assert [run.bucket for run in chosen] == starting


def test_zero_is_no_limit(limits: Any):
    limits.RUNS_PER_PERSON = limits.RUNS_PER_KEY = limits.RUNS_PER_APPLICATION = 0
    line = [run_of(name) for name in ["anna", "key-1"] * 10]

    assert next_up(line, going(*["anna", "key-1"] * 10), 20) == line


def ask(name: str, holder: str = "", **fields: Any) -> Run:
    """Admit a new run to the process or to the queue, and save it."""
    with transaction.atomic():
        run = run_of(name, **fields)
        queue.admit(run, holder)
        leases.claim(run)
    return run


def test_runs_count_for_whom_they_are_counted_whatever_bucket_they_are_in():
    """A user in several teams counts once, and so do the visitors from one address."""
    office = {"counted_as": "address-203.0.113.9"}
    working = [ask(f"session-{number}", "one", **office) for number in range(2)]
    third, elsewhere = ask("session-3", "one", **office), ask("session-4", "one")

    assert [run.status for run in (*working, third, elsewhere)] == [
        *("running", "running", "queued", "running"),
    ]
    assert queue.claim("one", 9) == []
    finish(working[0])
    assert queue.claim("one", 9) == [third]


def finish(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(status="done", holder="")


def drained(holder: str = "one") -> list[str]:
    """Return the owners of the runs in the order of their starts, if each ends before the next."""
    order = []
    while claimed := queue.claim(holder, 1):
        order += [run.bucket for run in claimed]
        finish(claimed[0])
    return order


def test_persons_take_turns_however_many_questions_one_has():
    for _ in range(5):
        ask("anna")
    for _ in range(2):
        ask("ben")
    ask("carla")

    assert drained() == ["anna", "ben", "carla", "anna", "ben", "anna", "anna", "anna"]


def test_who_has_answers_going_stands_behind_who_has_none(limits: Any):
    limits.RUNS_PER_APPLICATION = 2
    working = [ask("anna", "one"), ask("anna", "one")]
    ask("anna")
    ask("ben")
    finish(working[0])

    assert [run.status for run in working] == ["running", "running"]
    assert [run.bucket for run in queue.claim("one", 9)] == ["ben"]


def test_nobody_starts_before_those_whose_turn_it_is(limits: Any):
    limits.RUNS_PER_APPLICATION = 1
    working = ask("anna", "one")
    ask("ben")
    finish(working)

    newest = ask("carla", "one")

    assert (newest.status, newest.holder) == ("queued", "")
    assert drained() == ["ben", "carla"]


def test_an_answered_run_goes_on_before_newer_ones_of_the_same_person():
    answered = ask("anna", "one")
    Run.objects.filter(pk=answered.pk).update(status="waiting", holder="")
    ask("anna")
    Run.objects.filter(pk=answered.pk).update(status="queued")

    assert queue.claim("one", 1) == [answered]


def test_what_waits_for_somebody_counts_nowhere():
    for _ in range(3):
        Run.objects.filter(pk=ask("anna", "one").pk).update(status="waiting", holder="")

    assert ask("anna", "one").status == "running"


def test_what_a_dead_process_worked_on_counts_until_another_one_has_it(limits: Any):
    runs = [ask("anna", "gone"), ask("anna", "gone")]
    Run.objects.update(beat_at=runs[0].beat_at - timedelta(seconds=60))

    assert ask("anna", "one").status == "queued"
    assert queue.claim("one", 9) == []


def test_a_person_queues_so_many_questions_and_no_more(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(queue, "MOST_QUEUED", 2)
    for _ in range(2):
        ask("anna")

    with pytest.raises(Refused) as refused:
        ask("anna")

    assert refused.value.code == "too_many_runs"
    assert ask("ben").status == "queued"


async def swept(hub: Hub) -> list[str]:
    taken: list[str] = []

    async def resume_run(hub: Hub, run: Run) -> None:
        taken.append(run.bucket)
        hub.supervisors[run.stream] = object()  # type: ignore[assignment]

    await Sweeper(hub, resume_run, lambda run: None).sweep()
    return taken


@proves("D-09")
async def test_any_process_takes_what_it_has_room_for(limits: Any):
    limits.RUNS_PER_PROCESS = 2
    for name in ("anna", "ben", "carla", "dora"):
        await database_sync_to_async(ask)(name)
    one, other = Hub(), Hub()
    with one.slots.hold("key-1", "demo"):
        first = await swept(one)
        again = await swept(one)
    second = await swept(other)

    assert (first, again, second) == (["anna"], [], ["ben", "carla"])
    assert (one.has_queue, other.has_queue) == (True, True)
    assert await swept(one) == ["dora"]
    assert await Run.objects.filter(status="running").acount() == 4


async def test_a_queued_run_is_stopped_and_ended_by_a_sweep():
    run = await database_sync_to_async(ask)("anna")
    hub = Hub()
    ended: list[Run] = []

    await stop_run(hub, run)
    await Sweeper(hub, lambda *_: pytest.fail("started"), ended.append).sweep()

    assert hub.awaited.is_set()
    assert ended == [run]


async def test_a_run_of_another_process_is_told_to_stop():
    run = await held_run(Hub())

    assert await stop_run(Hub(), run)
    assert (await Run.objects.aget()).is_stop_requested
    await Run.objects.aupdate(status="done")
    assert not await stop_run(Hub(), run)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time.")
@pytest.mark.django_db(transaction=True)
def test_processes_that_admit_at_the_same_moment_never_exceed_the_limit():
    threads = 4
    barrier = threading.Barrier(threads)

    def admit_and_claim(number: int) -> None:
        try:
            barrier.wait(PATIENCE)
            for _ in range(5):
                ask("anna", f"process-{number}")
                queue.claim(f"process-{number}", 9)
        finally:
            connection.close()

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(admit_and_claim, range(threads)))

    assert Counter(Run.objects.values_list("status", flat=True)) == {"running": 2, "queued": 18}


def test_the_gateway_has_so_many_places_and_no_more(limits: Any):
    limits.RUNS_PER_PROCESS, limits.RUNS_PER_APPLICATION, limits.RUNS_PER_KEY = 3, 2, 1
    slots = RunSlots([])

    def refused(caller: str, application: str) -> str:
        with pytest.raises(TooManyRuns) as error, slots.hold(caller, application):
            pass
        return str(error.value).partition(" are ")[0]

    with slots.hold("key-1", "a"):
        same_key = refused("key-1", "b")
        with slots.hold("", "b"), slots.hold("", "b"):
            full = refused("key-2", "c")
        with slots.hold("key-2", "a"):
            same_application = refused("key-3", "a")

    assert (same_key, full, same_application) == (
        "Too many of your requests",
        "Too many requests",
        "Too many requests to this application",
    )
    assert (slots.others, slots.callers, slots.applications) == (0, Counter(), Counter())


def test_places_are_held_for_runs_that_are_about_to_begin(limits: Any):
    limits.RUNS_PER_PROCESS = 3
    slots = RunSlots(["kept"])

    with slots.reserve(1) as one, slots.reserve(5) as rest, slots.reserve(1) as none:
        counts = one, rest, none

    assert (counts, slots.free) == ((1, 1, 0), 2)
