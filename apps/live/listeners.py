"""Notifies other modules when a run ends, is stopped or begins to wait for a user, in the
transaction that stores the new status.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from apps.listeners import Listeners
from apps.live.models import Run

NEWS = frozenset({Run.Status.DONE, Run.Status.FAILED, Run.Status.STOPPED, Run.Status.WAITING})


@dataclass(frozen=True, slots=True)
class RunNews:
    """A run's new status, which is one of `NEWS`. `application` is a slug, or a path in DIAL
    Core.
    """

    run: UUID
    door: str
    application: str
    bucket: str
    status: str


run_listeners = Listeners[[Sequence[RunNews]], None]("the end of runs")
"""The functions to notify. They are called on a database thread, once for all runs of a
transaction. They run in a savepoint, so that a failing function does not roll back the new statuses
of the runs.
"""


def notify_listeners(news: Iterable[RunNews]) -> None:
    ended = [one for one in news if one.status in NEWS]
    if ended:
        run_listeners.notify(ended)


def notify_waiting(run: UUID) -> None:
    row = Run.objects.filter(pk=run).values_list("door", "application", "bucket").first()
    if row is not None:
        notify_listeners([RunNews(run, *row, Run.Status.WAITING)])
