"""The way into the server: what streams goes to its consumer, all else to Django.

The doors are routed before Django because a request through Django's middleware costs several
times what the whole streamed answer does; they authenticate and limit by themselves.
"""

import os

from django.core.asgi import get_asgi_application

from quickapps_site.tracing import set_up_tracing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "quickapps_site.settings")
set_up_tracing()
django_application = get_asgi_application()

# The rest needs Django to be set up.
from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402

from apps import metrics  # noqa: E402
from apps.chat import routing as chat  # noqa: E402
from apps.chat.origins import SameOrigin  # noqa: E402
from apps.gateway import metrics as scrapes  # noqa: E402
from apps.gateway import routing as gateway  # noqa: E402
from apps.live.gauges import GAUGES  # noqa: E402
from apps.triggers import routing as triggers  # noqa: E402
from quickapps_site import database_threads  # noqa: E402
from quickapps_site.bodies import body_limits, with_bounded_bodies  # noqa: E402
from quickapps_site.cors import with_cors  # noqa: E402
from quickapps_site.http_metrics import with_request_metrics  # noqa: E402
from quickapps_site.lifespan import lifespan  # noqa: E402
from quickapps_site.nul import with_clean_addresses  # noqa: E402
from quickapps_site.opentelemetry_logs import set_up_opentelemetry_logs  # noqa: E402
from quickapps_site.opentelemetry_metrics import set_up_opentelemetry_metrics  # noqa: E402
from quickapps_site.postgresql import limits  # noqa: E402
from quickapps_site.prometheus_port import is_scraped, serve_scrapes  # noqa: E402

set_up_opentelemetry_logs()
database_threads.start(settings.DATABASE_THREADS)
limits.apply_limits(
    limits.Limits(settings.DATABASE_LOCK_SECONDS, settings.DATABASE_STATEMENT_SECONDS)
)
if settings.METRICS:
    scrapes.start()
if is_scraped():
    serve_scrapes(scrapes.start())
set_up_opentelemetry_metrics(GAUGES)

pages = with_bounded_bodies(
    URLRouter(
        [*chat.http_urlpatterns, *triggers.urlpatterns, *gateway.otherwise(django_application)]
    ),
    body_limits(settings.BODY_LIMITS),
    settings.BODY_SECONDS,
)
answering = with_cors(
    URLRouter([*gateway.urlpatterns, *gateway.otherwise(pages)]), settings.CORS_ALLOWED_ORIGINS
)
routes = ProtocolTypeRouter(
    {
        # Put around all the rest only where it is wanted: it is called for each chunk.
        "http": with_request_metrics(answering) if metrics.is_on() else answering,
        "lifespan": lifespan,
        "websocket": SameOrigin(AuthMiddlewareStack(URLRouter(chat.websocket_urlpatterns))),
    }
)
application = with_clean_addresses(routes)
