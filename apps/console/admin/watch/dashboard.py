"""Builds the home page of the admin."""

from typing import Any

from django.http import HttpRequest

from apps.accounts.preferences import Preferences, preferences_of_request
from apps.console.admin.watch.home import blocks
from apps.console.admin.watch.home_charts import home_charts
from apps.console.admin.watch.needs import count_rows
from apps.console.operator_rights import visible_applications
from apps.doors.first_steps import FirstStep, first_steps


def overview(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the setup `steps` of a new installation, `charts` and `blocks` to the template
    context.
    """
    more = {
        "blocks": blocks(request, count_rows(request)),
        "charts": home_charts(request),
        "steps": steps_for(request),
    }
    return {**context, **more}


def steps_for(request: HttpRequest) -> list[FirstStep]:
    """Return the setup steps of a new installation, or [] if the user cannot create applications or
    has ended the tour.
    """
    if not request.user.has_perm("catalog.add_application"):
        return []
    kept = preferences_of_request(request)
    tour = kept.tour if kept is not None else Preferences.Tour.OPEN
    if tour == Preferences.Tour.ENDED:
        return []
    uses_demo = tour == Preferences.Tour.WITH_DEMO
    return first_steps(request.user, visible_applications(request), uses_demo=uses_demo)
