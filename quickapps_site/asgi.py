"""Defines the server's ASGI application. It routes API requests directly to the APIs in `apps`, and
all other requests to Django.

Django's middleware would take several times as much CPU time as a whole streamed answer. The APIs
authenticate callers and limit requests themselves.
"""

import os

from django.core.asgi import get_asgi_application

from quickapps_site.observability.tracing import set_up_tracing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "quickapps_site.settings")
set_up_tracing()
django_application = get_asgi_application()

# The following imports need an initialized Django.
from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402

from apps import metrics  # noqa: E402
from apps.a2a import routing as a2a  # noqa: E402
from apps.ag_ui import routing as ag_ui  # noqa: E402
from apps.chat import routing as chat  # noqa: E402
from apps.doors.bodies import BODY_SECONDS  # noqa: E402
from apps.doors.origins import SameOrigin  # noqa: E402
from apps.gateway import metrics as scrapes  # noqa: E402
from apps.gateway import routing as gateway  # noqa: E402
from apps.live.hub import HUB  # noqa: E402
from apps.live.process.gauges import gauges_of  # noqa: E402
from apps.mcp_server import routing as mcp_server  # noqa: E402
from apps.messages import routing as messages  # noqa: E402
from apps.responses import routing as responses  # noqa: E402
from apps.task_api import routing as task_api  # noqa: E402
from apps.triggers import routing as triggers  # noqa: E402
from quickapps_site.middleware.bodies import body_limits, with_bounded_bodies  # noqa: E402
from quickapps_site.middleware.cors import with_cors  # noqa: E402
from quickapps_site.middleware.handshakes import with_outage_responses  # noqa: E402
from quickapps_site.middleware.nul import with_clean_addresses  # noqa: E402
from quickapps_site.middleware.request_ids import with_request_ids  # noqa: E402
from quickapps_site.observability.http_metrics import with_request_metrics  # noqa: E402
from quickapps_site.observability.opentelemetry_logs import set_up_opentelemetry_logs  # noqa: E402
from quickapps_site.observability.opentelemetry_metrics import set_up_opentelemetry_metrics  # noqa: E402
from quickapps_site.observability.prometheus_port import is_scraped, serve_scrapes  # noqa: E402
from quickapps_site.postgresql import limits  # noqa: E402
from quickapps_site.postgresql.clients import with_ended_statements  # noqa: E402
from quickapps_site.server import database_threads  # noqa: E402
from quickapps_site.server.background import ProcessRole  # noqa: E402
from quickapps_site.server.lifespan import lifespan  # noqa: E402

set_up_opentelemetry_logs()
database_threads.start(settings.DATABASE_THREADS)
limits.apply_limits(limits.Limits(limits.LOCK_SECONDS, limits.STATEMENT_SECONDS))
gauges = gauges_of(HUB)
if settings.METRICS_TOKEN:
    scrapes.start(gauges)
if is_scraped():
    serve_scrapes(scrapes.start(gauges))
set_up_opentelemetry_metrics(gauges)

pages = with_bounded_bodies(
    URLRouter(
        [
            *task_api.urlpatterns,
            *triggers.urlpatterns,
            *gateway.otherwise(with_ended_statements(django_application)),
        ]
    ),
    body_limits(settings.BODY_LIMITS),
    BODY_SECONDS,
)
doors = [
    # The routes for the most frequent requests come before all other API routes.
    *gateway.completion_urlpatterns,
    *a2a.urlpatterns,
    *responses.urlpatterns,
    *messages.urlpatterns,
    *ag_ui.urlpatterns,
    *messages.by_version(gateway.list_models),
    *mcp_server.urlpatterns,
    *gateway.urlpatterns,
]
answering = with_cors(
    URLRouter([*doors, *gateway.otherwise(pages)]),
    settings.CORS_ALLOWED_ORIGINS,
)
site = {
    # Wrapped only if metrics are on, because the wrapper is called for each chunk.
    "http": with_request_metrics(answering) if metrics.is_on() else answering,
    "websocket": SameOrigin(
        with_outage_responses(AuthMiddlewareStack(URLRouter(chat.websocket_urlpatterns)))
    ),
}
worker = {"http": URLRouter(gateway.health_only("This process runs background jobs."))}
routes = worker if settings.ROLE == ProcessRole.WORKER else site
application = with_request_ids(
    with_clean_addresses(ProtocolTypeRouter({"lifespan": lifespan, **routes}))
)
