"""Describes jobs for operators, independently of the database that stores them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

STATES = ("ready", "running", "failed", "paused")


@dataclass(frozen=True, slots=True)
class Job:
    """A job. `state` is one of `STATES`. `apps.tasks.kinds` describes `kind`. `run_after` is None
    for a job that is due.
    """

    id: str
    task: str
    kind: str
    state: str
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    attempts: int
    enqueued_at: datetime | None
    started_at: datetime | None
    run_after: datetime | None
