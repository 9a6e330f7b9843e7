"""What is written of the helpers of runs, and the wish that one of them stops."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from uuid import UUID

from django.utils import timezone

from apps.agent.events import HelperBegan, HelperEnded
from apps.live.events import storable
from apps.live.helper_rows import LONGEST_NAME
from apps.live.models import HelperRun, Run
from apps.live.step_keys import kept_key

HelperEvent = HelperBegan | HelperEnded
BEGUN = ("name", "agent", "status", "finished_at")


def write(run: UUID, events: Iterable[HelperEvent]) -> None:
    """Follow the events in their order; what is written twice stays the same."""
    for event in events:
        if isinstance(event, HelperBegan):
            begin(run, event)
        else:
            end(run, event)


def begin(run: UUID, event: HelperBegan) -> None:
    row = HelperRun(
        run_id=run,
        key=kept_key(event.key),
        name=storable(event.name)[:LONGEST_NAME],
        agent=storable(event.agent)[:LONGEST_NAME],
    )
    # A helper that another process goes on with keeps when it began, and the wish that it stops.
    HelperRun.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["run", "key"], update_fields=BEGUN
    )


def end(run: UUID, event: HelperEnded) -> None:
    HelperRun.objects.filter(run=run, key=kept_key(event.key)).update(
        status=event.status,
        finished_at=timezone.now(),
        model_calls=event.iterations,
        tool_calls=event.tool_calls,
        prompt_tokens=event.prompt_tokens,
        completion_tokens=event.completion_tokens,
    )


def end_all(run: UUID, status: str) -> None:
    """The run is over, and with it the helpers that were at work."""
    going = HelperRun.objects.filter(run=run, status=HelperRun.Status.RUNNING)
    is_failed = status == HelperRun.Status.FAILED
    ended = HelperRun.Status.FAILED if is_failed else HelperRun.Status.STOPPED
    going.update(status=ended, finished_at=timezone.now())


def request_stop(stream: UUID, key: str) -> bool:
    """Ask that a helper of the stream stops; False if no such helper is at work."""
    going = HelperRun.objects.filter(
        run__stream=stream, run__status__in=Run.OPEN, status=HelperRun.Status.RUNNING
    )
    return bool(going.filter(key=kept_key(key)).update(is_stop_requested=True))


def wishes(runs: Collection[UUID]) -> Mapping[UUID, Collection[str]]:
    """The keys of the helpers that are to stop, by their runs. One query."""
    found: dict[UUID, set[str]] = defaultdict(set)
    rows = HelperRun.objects.filter(
        run__in=runs, is_stop_requested=True, status=HelperRun.Status.RUNNING
    )
    for run, key in rows.values_list("run_id", "key"):
        found[run].add(key)
    return found
