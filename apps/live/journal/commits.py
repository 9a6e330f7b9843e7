"""Writes the data of a process's runs in one transaction. Runs whose lease the process no longer
holds are skipped.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.live import subagents
from apps.live.events import StreamEvent
from apps.live.journal.journal import has_entry
from apps.live.listeners import notify_waiting
from apps.live.models import JournalEntry, Run, RunStep
from apps.live.subagents import SubagentEvent

OVER = frozenset({Run.Status.DONE, Run.Status.FAILED, Run.Status.STOPPED})


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a run in this process: its final status, or its release to another process.

    `store` saves further data in the same transaction.
    """

    status: str
    events: tuple[StreamEvent, ...] = ()
    store: Callable[[], None] = lambda: None


@dataclass(slots=True)
class Portion:
    """The part of a run's data that one transaction writes. It does not change until it is written.

    `is_repeated` is True if an earlier attempt failed. That attempt may have written the data
    anyway, if only its response was lost.
    """

    run: UUID
    entry: JournalEntry | None = None
    steps: Sequence[RunStep] = ()
    subagents: Sequence[SubagentEvent] = ()
    ending: Ending | None = None
    beats: bool = False
    is_repeated: bool = False


@dataclass(frozen=True, slots=True)
class RunSignals:
    """The runs that this process no longer holds, and the runs that users want to stop."""

    lost: frozenset[UUID] = frozenset()
    stopped: frozenset[UUID] = field(default=frozenset())
    subagents: Mapping[UUID, Collection[str]] = field(default_factory=dict)
    """The keys of the sub-agents that users want to stop, by run."""


def read_signals(holder: str, runs: Collection[UUID], helped: Collection[UUID] = ()) -> RunSignals:
    """Return the runs whose lease the process `holder` has lost, and the runs and sub-agents that
    it must stop. `helped` contains the runs with sub-agents.
    """
    held = Run.objects.filter(pk__in=runs, holder=holder, status__in=Run.GOING)
    wishes = dict(held.values_list("pk", "is_stop_requested"))
    return RunSignals(
        frozenset(runs) - wishes.keys(),
        frozenset(run for run, wish in wishes.items() if wish),
        subagents.wishes(helped) if helped else {},
    )


@transaction.atomic
def write(holder: str, portions: Sequence[Portion]) -> frozenset[UUID]:
    """Write the data of the runs that the process `holder` still holds. Return the IDs of the other
    runs.
    """
    runs = [portion.run for portion in portions]
    rows = Run.objects.filter(pk__in=runs, holder=holder, status__in=Run.GOING)
    # The lock prevents another process from taking over a run before the transaction ends.
    held = set(rows.select_for_update().order_by("pk").values_list("pk", flat=True))
    ours = [portion for portion in portions if portion.run in held]
    write_entries(ours)
    write_steps(ours)
    for portion in ours:
        subagents.write(portion.run, portion.subagents)
    beat([portion.run for portion in ours if portion.beats])
    for portion in ours:
        if portion.ending is not None:
            release_run(portion.run, portion.ending)
    return (
        frozenset(runs) - held - {p.run for p in portions if p.run not in held and was_written(p)}
    )


def write_entries(portions: Iterable[Portion]) -> None:
    for repeated in (False, True):
        entries = [p.entry for p in portions if p.entry is not None and p.is_repeated == repeated]
        if entries:
            JournalEntry.objects.bulk_create(entries, ignore_conflicts=repeated)


def write_steps(portions: Iterable[Portion]) -> None:
    steps = [step for portion in portions for step in portion.steps]
    if not steps:
        return
    RunStep.objects.bulk_create(
        steps,
        update_conflicts=True,
        unique_fields=["run", "key"],
        update_fields=["status", "policy", "result", "done_at"],
    )
    done = {step.run_id for step in steps if step.done_at is not None}
    Run.objects.filter(pk__in=done, attempts__gt=0).update(attempts=0)


def beat(runs: Collection[UUID]) -> None:
    if runs:
        Run.objects.filter(pk__in=runs).update(beat_at=timezone.now())


def release_run(run: UUID, ending: Ending) -> None:
    now = timezone.now()
    Run.objects.filter(pk=run).update(
        status=ending.status,
        holder="",
        beat_at=now,
        finished_at=now if ending.status in OVER else None,
    )
    ending.store()
    if ending.status == Run.Status.WAITING:
        notify_waiting(run)


def was_written(portion: Portion) -> bool:
    """Return True if an earlier attempt has already written the portion's data and released the
    run.
    """
    if not portion.is_repeated or portion.ending is None or portion.entry is None:
        return False
    return has_entry(portion.entry)
