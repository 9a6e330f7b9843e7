"""Writes the database rows of sub-agents, and requests that sub-agents stop."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from uuid import UUID

from django.utils import timezone

from apps.agent.events import SubagentEnded, SubagentStarted
from apps.live.events import shorten_key, storable_value
from apps.live.models import HelperRun, Run
from apps.live.subagent_rows import LONGEST_NAME

SubagentEvent = SubagentStarted | SubagentEnded
BEGUN = ("name", "agent", "status", "finished_at")


def write(run: UUID, events: Iterable[SubagentEvent]) -> None:
    """Apply the events to the rows of the run's sub-agents. Repeated events have no effect."""
    for event in events:
        if isinstance(event, SubagentStarted):
            begin(run, event)
        else:
            end(run, event)


def begin(run: UUID, event: SubagentStarted) -> None:
    row = HelperRun(
        run_id=run,
        key=shorten_key(event.key),
        name=storable_value(event.name)[:LONGEST_NAME],
        agent=storable_value(event.agent)[:LONGEST_NAME],
    )
    # A resumed sub-agent retains its start time and a request to stop it.
    HelperRun.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["run", "key"], update_fields=BEGUN
    )


def end(run: UUID, event: SubagentEnded) -> None:
    HelperRun.objects.filter(run=run, key=shorten_key(event.key)).update(
        status=event.status,
        finished_at=timezone.now(),
        model_calls=event.iterations,
        tool_calls=event.tool_calls,
        prompt_tokens=event.prompt_tokens,
        completion_tokens=event.completion_tokens,
    )


def end_all(run: UUID, status: str) -> None:
    """Mark the remaining sub-agents of an ended run as failed if the run has failed, else as
    stopped. `status` is the run's status.
    """
    going = HelperRun.objects.filter(run=run, status=HelperRun.Status.RUNNING)
    is_failed = status == HelperRun.Status.FAILED
    ended = HelperRun.Status.FAILED if is_failed else HelperRun.Status.STOPPED
    going.update(status=ended, finished_at=timezone.now())


def request_stop(stream: UUID, key: str) -> bool:
    """Request that a sub-agent of the stream's run stop. Return False if it is not active."""
    going = HelperRun.objects.filter(
        run__stream=stream, run__status__in=Run.OPEN, status=HelperRun.Status.RUNNING
    )
    return bool(going.filter(key=shorten_key(key)).update(is_stop_requested=True))


def wishes(runs: Collection[UUID]) -> Mapping[UUID, Collection[str]]:
    """Return the keys of the sub-agents that users want to stop, by run."""
    found: dict[UUID, set[str]] = defaultdict(set)
    rows = HelperRun.objects.filter(
        run__in=runs, is_stop_requested=True, status=HelperRun.Status.RUNNING
    )
    for run, key in rows.values_list("run_id", "key"):
        found[run].add(key)
    return found
