"""The home page of the admin."""

from typing import Any

from django.http import HttpRequest

from apps.console.admin.watch.home import blocks
from apps.console.admin.watch.home_charts import home_charts
from apps.console.admin.watch.needs import count_rows
from apps.console.first_steps import first_steps


def overview(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the `steps` of a new installation, and the `charts` and `blocks` about its state."""
    more = {
        "blocks": blocks(request, count_rows(request)),
        "charts": home_charts(request),
        "steps": first_steps(request),
    }
    return {**context, **more}
