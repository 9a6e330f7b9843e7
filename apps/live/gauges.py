"""What there is now of runs, for metrics: here, and in the database that processes share."""

import logging
from collections.abc import Iterator

from django.db import DatabaseError, close_old_connections
from django.db.models import Count

from apps.live.hub import HUB
from apps.live.models import Run
from apps.live.run_summary import RunSummary
from apps.metrics import Gauge, Reading

logger = logging.getLogger(__name__)

Door = RunSummary.Door


def page_runs() -> Iterator[Reading]:
    """By status, as all processes see them; nothing while the database is away."""
    counts = dict.fromkeys(Run.OPEN, 0)
    try:
        going = Run.objects.filter(status__in=Run.OPEN).order_by()
        counts |= dict(going.values_list("status").annotate(Count("pk")))
    except DatabaseError as error:
        logger.warning("Runs cannot be counted for the metrics: %s", error)
        return
    finally:
        close_old_connections()  # OpenTelemetry asks on a thread of its own
    for status, count in counts.items():
        yield (str(status),), count


def runs_here() -> Iterator[Reading]:
    yield (Door.PAGE.value,), len(HUB.supervisors)
    yield (Door.GATEWAY.value,), HUB.places.others


def rows_waiting() -> Iterator[Reading]:
    yield ("runs",), len(HUB.summaries.over)
    yield ("calls",), len(HUB.summaries.calls.rows)


def viewers() -> Iterator[Reading]:
    yield (), sum(map(len, list(HUB.viewers.values())))


GAUGES = (
    Gauge(
        "quickapps_page_runs",
        "Runs of the page that are not over, in the database that all processes share.",
        page_runs,
        ("status",),
    ),
    Gauge("quickapps_process_runs", "Runs that this process works on.", runs_here, ("door",)),
    Gauge(
        "quickapps_rows_waiting",
        "Rows of runs and calls that wait to be written.",
        rows_waiting,
        ("of",),
    ),
    Gauge("quickapps_viewers", "Pages and streams that follow conversations.", viewers),
)
