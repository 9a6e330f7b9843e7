"""Routes the gateway's URLs. All other requests go to Django."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.urls import URLPattern, re_path

from apps.doors.dialect import Dialect
from apps.doors.run_consumer import RunConsumer
from apps.gateway.consumers import (
    NO_BASE_URL,
    ConfigurationConsumer,
    EntryConsumer,
    HealthConsumer,
    ListConsumer,
    NotFoundConsumer,
    ReadyConsumer,
)
from apps.gateway.dial_dialect import DialDialect
from apps.gateway.embeddings import EmbeddingsConsumer
from apps.gateway.files import BucketConsumer, FileConsumer, MetadataConsumer
from apps.gateway.metrics import MetricsConsumer
from apps.gateway.openai_dialect import OpenAIDialect
from apps.live.hub import HUB

# The IDs of applications in DIAL Core contain slashes, such as applications/{bucket}/{name}.
DEPLOYMENT = r"^openai/deployments/(?P<slug>.+?)"
MODELS = r"^(?:openai/(?:v1/)?(?:models|deployments)|v1/models)"

OPENAI, DIAL = OpenAIDialect(), DialDialect()


class CompletionConsumer(RunConsumer):
    """Serves `POST …/chat/completions` for OpenAI's clients and for DIAL Core."""

    route = "/openai/deployments/{slug}/chat/completions"
    dialect = OPENAI
    dialects: ClassVar[Mapping[str, Dialect]] = {"dial": DIAL}


complete = CompletionConsumer.as_asgi()
list_models: Any = ListConsumer.as_asgi()
embed = EmbeddingsConsumer.as_asgi(keep=HUB.summaries.queue_call)

health_urlpatterns: list[URLPattern] = [
    re_path(r"^healthz$", HealthConsumer.as_asgi()),
    re_path(r"^readyz$", ReadyConsumer.as_asgi()),
    re_path(r"^metrics$", MetricsConsumer.as_asgi()),
]

completion_urlpatterns: list[URLPattern] = [
    re_path(rf"{DEPLOYMENT}/chat/completions/?$", complete),
    re_path(r"^(?:openai/)?v1/chat/completions/?$", complete),
]

# OpenAI's clients use URLs below `v1` and send the application in the body. DIAL's clients use `v1`
# for files.
urlpatterns: list[URLPattern] = [
    re_path(rf"{DEPLOYMENT}/embeddings/?$", embed),
    re_path(r"^(?:openai/)?v1/embeddings/?$", embed),
    re_path(rf"{DEPLOYMENT}/configuration/?$", ConfigurationConsumer.as_asgi()),
    re_path(rf"{MODELS}/?$", list_models),
    re_path(rf"{MODELS}/(?P<slug>[^/]+|applications/.+?)/?$", EntryConsumer.as_asgi()),
    re_path(r"^v1/bucket/?$", BucketConsumer.as_asgi()),
    re_path(r"^v1/files/(?P<bucket>[^/]+)(?:/(?P<name>.*))?$", FileConsumer.as_asgi()),
    re_path(r"^v1/metadata/files/(?P<bucket>[^/]+)(?:/(?P<name>.*))?$", MetadataConsumer.as_asgi()),
    *health_urlpatterns,
    re_path(r"^openai(?:/|$)|^v1(?:/(?!configuration-support/)|$)", NotFoundConsumer.as_asgi()),
]


def health_only(advice: str) -> list[URLPattern]:
    """Return the URL patterns for a process that serves only health checks and metrics. `advice`
    explains this in 404 responses.
    """
    return [*health_urlpatterns, re_path(r"", NotFoundConsumer.as_asgi(advice=advice))]


def otherwise(application: Any) -> list[URLPattern]:
    """Return the URL patterns for all requests outside the APIs. The ASGI application `application`
    answers these requests.
    """
    return [re_path(r"^chat/completions/?$", misplaced_url(application)), re_path(r"", application)]


def misplaced_url(application: Any) -> Any:
    """Return an ASGI application for the URL that clients use if their `base_url` lacks `/v1`.

    A POST gets status 404 with advice. Other requests are for a page, so `application` answers
    them.
    """
    not_found = NotFoundConsumer.as_asgi(advice=NO_BASE_URL)

    async def route(scope: Any, receive: Any, send: Any) -> None:
        await (not_found if scope["method"] == "POST" else application)(scope, receive, send)

    return route
