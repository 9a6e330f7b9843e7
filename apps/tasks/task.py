"""Defines the decorator `task`, which turns a function into a task that can be enqueued."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ParamSpec, TypeVar, cast

import django_tasks
from django.apps import apps
from django.utils import timezone
from django_tasks import base
from django_tasks.base import TaskResult, TaskResultStatus

from apps.chores import Chore

P = ParamSpec("P")
T = TypeVar("T")

LONGEST_WAIT = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(base.Task[P, T]):
    """A function that a worker calls later. A job whose process was killed runs again, so every
    function must be idempotent.
    """

    key: str
    """Identifies the task in stored jobs, so never change it."""
    title: str = ""
    """The name that operators see."""
    retries: int = 0
    """The maximum number of retries for a failed job, with exponential backoff."""
    wait: int = 2
    """The pause before the first retry, in seconds."""
    given_up: Callable[..., object] | None = None
    """Called with the job's arguments if it is canceled or its last attempt fails."""

    def pause_after(self, attempt: int) -> timedelta | None:
        """Return the pause after an attempt, or None if it was the last. Attempts count from 1."""
        if attempt > self.retries:
            return None
        return min(timedelta(seconds=self.wait * 2 ** (attempt - 1)), LONGEST_WAIT)


_tasks: dict[str, Task[Any, Any]] = {}


def task(key: str, **options: Any) -> Callable[[Callable[P, T]], Task[P, T]]:
    """Return a decorator that turns a function into a task. `options` are fields of `Task`."""

    def decorate(function: Callable[P, T]) -> Task[P, T]:
        made = cast("Task[P, T]", django_tasks.task(key=key, **options)(function))
        if (other := _tasks.setdefault(key, made)).module_path != made.module_path:
            raise ValueError(
                f"{other.module_path} and {made.module_path} define the task {key!r}; rename one of them."
            )
        return made

    return decorate


def find_task(key: str) -> Task[Any, Any]:
    """Return the task with this key. Raises `LookupError` if no Django app defines it."""
    return all_tasks()[key]


def all_tasks() -> dict[str, Task[Any, Any]]:
    """Return all tasks by key. Django apps must import their task modules in `ready`."""
    return _tasks


def all_chores() -> Iterator[Chore]:
    """Yield the chores that all apps declare in their configs."""
    for config in apps.get_app_configs():
        yield from getattr(config, "chores", ())


def result_of(
    task: Task[Any, Any], job: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> TaskResult[Any]:
    """Return the result of `enqueue` for a new job, for both job backends."""
    return TaskResult(
        task=task,
        id=job,
        status=TaskResultStatus.READY,
        enqueued_at=timezone.now(),
        started_at=None,
        finished_at=None,
        last_attempted_at=None,
        args=list(args),
        kwargs=dict(kwargs),
        backend=task.backend,
        errors=[],
        worker_ids=[],
    )
