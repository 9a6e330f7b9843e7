"""Draws the charts of runs and costs on the admin's home page."""

import logging
from datetime import timedelta

from django.db import DatabaseError
from django.http import HttpRequest

from apps.console.admin.watch.charts import Chart
from apps.console.admin.watch.usage_charts import cost_charts, runs_chart
from apps.console.operator_rights import seen_slugs
from apps.insights.figures import read_points
from apps.live.history.run_rows import count_runs

logger = logging.getLogger(__name__)

SEES_USAGE = ("insights.view_usagesum", "runs.view_runsummary")
DAYS, DAYS_OF_ROWS = 30, 1
"""The number of days in the charts, for users who see all applications and for other users."""
MOST_CURRENCIES = 2
"""The page shows at most this many charts of costs, one per currency."""


def home_charts(request: HttpRequest) -> list[Chart]:
    if not all(map(request.user.has_perm, SEES_USAGE)):
        return []
    among = seen_slugs(request)
    length = timedelta(days=DAYS if among is None else DAYS_OF_ROWS)
    try:
        period, points = read_points(length, count_runs, among)
    except DatabaseError:
        logger.exception("Could not read the charts of the home page")
        return []
    costs = list(cost_charts(points, period))[:MOST_CURRENCIES]
    found = [runs_chart(points, period), *costs]
    return [chart for chart in found if chart.has_values]
