"""What a process writes of its runs, in one transaction for all of them.

Each write is fenced: it happens only while the run is held by this process.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.live import helpers
from apps.live.events import StreamEvent
from apps.live.helpers import HelperEvent
from apps.live.journal import has_entry
from apps.live.listeners import tell_waiting
from apps.live.models import JournalEntry, Run, RunStep

OVER = frozenset({Run.Status.DONE, Run.Status.FAILED, Run.Status.STOPPED})


@dataclass(frozen=True, slots=True)
class Ending:
    """The last events of a run in this process, which then lets go of it.

    `store` saves what belongs to it in the same transaction.
    """

    status: str
    events: tuple[StreamEvent, ...] = ()
    store: Callable[[], None] = lambda: None


@dataclass(slots=True)
class Portion:
    """What a transaction writes of one run. It stays the same until it is written.

    `is_repeated`: it may be there already, because the answer to the first attempt was lost.
    """

    run: UUID
    entry: JournalEntry | None = None
    steps: Sequence[RunStep] = ()
    helpers: Sequence[HelperEvent] = ()
    ending: Ending | None = None
    beats: bool = False
    is_repeated: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """The runs that are held no more, and those that somebody wishes to stop."""

    lost: frozenset[UUID] = frozenset()
    stopped: frozenset[UUID] = field(default=frozenset())
    helpers: Mapping[UUID, Collection[str]] = field(default_factory=dict)
    """The keys of helpers that somebody wishes to stop, by run."""


def look(holder: str, runs: Collection[UUID], helped: Collection[UUID] = ()) -> Standing:
    """`helped` are the runs that have helpers."""
    held = Run.objects.filter(pk__in=runs, holder=holder, status__in=Run.GOING)
    wishes = dict(held.values_list("pk", "is_stop_requested"))
    return Standing(
        frozenset(runs) - wishes.keys(),
        frozenset(run for run, wish in wishes.items() if wish),
        helpers.wishes(helped) if helped else {},
    )


@transaction.atomic
def write(holder: str, portions: Sequence[Portion]) -> frozenset[UUID]:
    """Write all portions whose runs are held; the runs that are not."""
    runs = [portion.run for portion in portions]
    rows = Run.objects.filter(pk__in=runs, holder=holder, status__in=Run.GOING)
    # Locked, so that nobody takes a run over between this look and the end of the transaction.
    held = set(rows.select_for_update().order_by("pk").values_list("pk", flat=True))
    ours = [portion for portion in portions if portion.run in held]
    write_entries(ours)
    write_steps(ours)
    for portion in ours:
        helpers.write(portion.run, portion.helpers)
    beat([portion.run for portion in ours if portion.beats])
    for portion in ours:
        if portion.ending is not None:
            let_go(portion.run, portion.ending)
    return frozenset(runs) - held - {p.run for p in portions if p.run not in held and is_there(p)}


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


def let_go(run: UUID, ending: Ending) -> None:
    now = timezone.now()
    Run.objects.filter(pk=run).update(
        status=ending.status,
        holder="",
        beat_at=now,
        finished_at=now if ending.status in OVER else None,
    )
    ending.store()
    if ending.status == Run.Status.WAITING:
        tell_waiting(run)


def is_there(portion: Portion) -> bool:
    """Whether an earlier attempt has written the portion, and let go of its run with it."""
    if not portion.is_repeated or portion.ending is None or portion.entry is None:
        return False
    return has_entry(portion.entry)
