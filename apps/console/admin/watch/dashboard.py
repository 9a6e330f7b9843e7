"""Builds the admin's home page."""

import logging
from datetime import timedelta
from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest

from apps.accounts.preferences import Preferences, preferences_of_request
from apps.console.admin.watch.charts import Chart
from apps.console.admin.watch.home import blocks
from apps.console.admin.watch.needs import count_rows
from apps.console.admin.watch.usage_charts import cost_charts, runs_chart
from apps.console.operator_rights import seen_slugs, visible_applications
from apps.doors.first_steps import FirstStep, first_steps
from apps.insights.figures import read_points
from apps.live.history.run_rows import count_runs

logger = logging.getLogger(__name__)
SEES_USAGE = ("insights.view_usagesum", "runs.view_runsummary")
DAYS, DAYS_OF_ROWS = 30, 1
"""The number of days in the charts: for users who can see all applications, and for other users."""
MOST_CURRENCIES = 2
"""The page shows at most this many charts of costs, one per currency."""


def overview(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the `charts`, the `blocks` and the setup `steps` for a new installation to the template
    context.
    """
    more = {
        "blocks": blocks(request, count_rows(request)),
        "charts": home_charts(request),
        "steps": steps_for(request),
    }
    return {**context, **more}


def steps_for(request: HttpRequest) -> list[FirstStep]:
    """Return the setup steps for a new installation, or [] if the user cannot create applications
    or has ended the tour.
    """
    if not request.user.has_perm("catalog.add_application"):
        return []
    kept = preferences_of_request(request)
    tour = kept.tour if kept is not None else Preferences.Tour.OPEN
    if tour == Preferences.Tour.ENDED:
        return []
    uses_demo = tour == Preferences.Tour.WITH_DEMO
    return first_steps(request.user, visible_applications(request), uses_demo=uses_demo)


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
