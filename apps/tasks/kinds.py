"""Defines the kinds of jobs that operators see and pause: each chore, and each other task.

All chores share two tasks. Only their jobs have a lock, which is the dotted path of the chore's
function.
"""

from collections.abc import Mapping

from django.db.models import Q

from apps.tasks.models import PausedKind
from apps.tasks.task import all_chores, all_tasks

ALL = "*"
"""The name that stands for all kinds, including those of later versions."""
CHORES = "tasks.do_"
"""The prefix of the keys of the two tasks that run chores."""


def kind_of(task: str, lock: str | None) -> str:
    return lock or task


def of_kind(kind: str, task: str = "task") -> Q:
    """Return a filter for jobs of a kind. `task` is the name of the column with the task's key."""
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
    """Pause a kind: none of its jobs are started, and running ones continue. Return False if it was
    already paused.
    """
    _, is_new = PausedKind.objects.get_or_create(kind=kind)
    return is_new


def delete_pause(kind: str) -> bool:
    """Delete the pause of a kind. Return False if there was none.

    Call `Queue.resume` instead, which also releases the waiting jobs.
    """
    return bool(PausedKind.objects.filter(kind=kind).delete()[0])
