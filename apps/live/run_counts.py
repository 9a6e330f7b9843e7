"""How many runs began, for the sums of usage."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Count, Q
from django.db.models.functions import TruncHour

from apps.insights.sums import RunCount
from apps.live.run_summary import RunSummary


def count_runs(since: datetime, until: datetime) -> Iterator[RunCount]:
    """The runs that began from a time on and before another, in one query."""
    began = RunSummary.objects.filter(started_at__gte=since, started_at__lt=until).order_by()
    grouped = began.annotate(hour=TruncHour("started_at")).values_list(
        "hour", "application", "bucket", "door"
    )
    failed = Count("pk", filter=Q(status=RunSummary.Status.FAILED))
    for row in grouped.annotate(runs=Count("pk"), failed=failed):
        yield RunCount(*row)
