"""Starts the background work of a process, depending on its role."""

import asyncio
import logging
from collections.abc import Coroutine
from enum import StrEnum
from typing import Any

from apps import metrics
from apps.conversations.answering.continuation import sweeper
from apps.live.hub import HUB
from apps.tasks.running import make_worker
from quickapps_site.observability.http_metrics import measure_lag

logger = logging.getLogger(__name__)


class ProcessRole(StrEnum):
    """The role of a process: it serves the site, runs background jobs, or both."""

    ALL = "all"
    WEB = "web"
    WORKER = "worker"


class Background:
    """The background tasks of a process, which run until they are canceled.

    When the process stops, `jobs` are canceled first. `watchers` run until all answers have ended.
    """

    def __init__(self, role: ProcessRole) -> None:
        self.jobs = [] if role is ProcessRole.WEB else [start(make_worker().run())]
        self.watchers = list(map(start, watchers(role)))


def watchers(role: ProcessRole) -> list[Coroutine[Any, Any, None]]:
    found: list[Coroutine[Any, Any, None]] = []
    if role is not ProcessRole.WORKER:  # Answers run in the process that users are connected to.
        found.append(sweeper(HUB).sweep_repeatedly())
    if metrics.is_on():
        found.append(measure_lag())
    return found


def start(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    task = asyncio.create_task(work)
    task.add_done_callback(log_failure)
    return task


def log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.critical("%s ended with an error", task.get_coro(), exc_info=error)
