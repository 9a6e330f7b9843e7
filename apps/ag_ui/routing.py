"""Routes the AG-UI URL to its consumer."""

from typing import Any

from django.urls import URLPattern, re_path

from apps.ag_ui.dialect import AgUiDialect
from apps.doors.dialect import Dialect
from apps.doors.run_consumer import RunConsumer


class AgUiConsumer(RunConsumer):
    """Serves `POST /ag-ui/{slug}`, which runs an application."""

    route = "/ag-ui/{slug}"
    dialect: Dialect = AgUiDialect()


run: Any = AgUiConsumer.as_asgi()

urlpatterns: list[URLPattern] = [re_path(r"^ag-ui/(?P<slug>[^/]+)/?$", run)]
