"""Defines the gauges of active runs, queued rows and viewers."""

import logging
from collections.abc import Iterator
from functools import partial

from django.db import DatabaseError, close_old_connections
from django.db.models import Count

from apps.live.doors import GATEWAY, PAGE
from apps.live.hub import Hub
from apps.live.models import Run
from apps.metrics import Gauge, Reading
from apps.tasks import status

logger = logging.getLogger(__name__)


def page_runs() -> Iterator[Reading]:
    """Yield the number of open stored runs by status, or nothing while the database is down."""
    counts = dict.fromkeys(Run.OPEN, 0)
    try:
        going = Run.objects.filter(status__in=Run.OPEN).order_by()
        counts |= dict(going.values_list("status").annotate(Count("pk")))
    except DatabaseError as error:
        logger.warning("Failed to count runs for the metrics: %s", error)
        return
    finally:
        close_old_connections()  # OpenTelemetry calls this on its own thread.
    for state, count in counts.items():
        yield (str(state),), count


def runs_here(hub: Hub) -> Iterator[Reading]:
    yield (PAGE,), len(hub.supervisors)
    yield (GATEWAY,), hub.slots.others


def rows_waiting(hub: Hub) -> Iterator[Reading]:
    yield ("runs",), len(hub.summaries.ended)
    yield ("calls",), len(hub.summaries.calls.rows)


def viewers(hub: Hub) -> Iterator[Reading]:
    yield (), sum(map(len, list(hub.streams.viewers.values())))


def gauges_of(hub: Hub) -> tuple[Gauge, ...]:
    return (
        Gauge(
            "quickapps_page_runs",
            "Active runs of the chat page, in the database that all processes share.",
            page_runs,
            ("status",),
        ),
        Gauge(
            "quickapps_process_runs",
            "Runs that this process works on.",
            partial(runs_here, hub),
            ("door",),
        ),
        Gauge(
            "quickapps_rows_waiting",
            "Rows of runs and calls that wait to be written.",
            partial(rows_waiting, hub),
            ("of",),
        ),
        Gauge(
            "quickapps_viewers",
            "Connections that follow conversations.",
            partial(viewers, hub),
        ),
        *status.GAUGES,
    )
