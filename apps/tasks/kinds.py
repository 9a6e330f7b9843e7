"""Defines the job kinds that operators see and pause. A kind is either a chore or a task that runs
no chores.

All chores use the same two tasks. The lock of a chore's job identifies the chore: it is the dotted
path of the chore's function. Other jobs have no lock.
"""

from collections.abc import Mapping

from django.db.models import Q

from apps.tasks.models import PausedKind
from apps.tasks.task import all_chores, all_tasks

ALL = "*"
"""The name for all kinds, including those that later versions add."""
CHORES = "tasks.do_"
"""The key prefix of the two tasks that run chores."""


def kind_of(task: str, lock: str | None) -> str:
    return lock or task


def of_kind(kind: str, task: str = "task") -> Q:
    """Return a filter for the jobs of a kind. `task` is the name of the column with the task key."""
    return Q() if kind == ALL else Q(**{task: kind}) | Q(lock=kind)


def all_kinds() -> Mapping[str, str]:
    """Return the titles of all kinds by name, sorted by title."""
    tasks = {
        key: task.title or key for key, task in all_tasks().items() if not key.startswith(CHORES)
    }
    found = tasks | {chore.work: chore.title for chore in all_chores()}
    return dict(sorted(found.items(), key=lambda item: item[1]))


def paused_kinds() -> set[str]:
    return set(PausedKind.objects.values_list("kind", flat=True))


def is_paused(kind: str) -> bool:
    return PausedKind.objects.filter(kind__in=(ALL, kind)).exists()


def pause(kind: str) -> bool:
    """Pause a kind. Queued jobs are not started; running jobs continue. Return False if it was
    already paused.
    """
    _, is_new = PausedKind.objects.get_or_create(kind=kind)
    return is_new


def delete_pause(kind: str) -> bool:
    """Delete the pause for a kind. Return False if there was none.

    Only `Queue.resume` should call this, because it also releases the queued jobs.
    """
    return bool(PausedKind.objects.filter(kind=kind).delete()[0])
