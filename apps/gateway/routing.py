"""The addresses of the gateway's consumers, and of Django behind them."""

from typing import Any

from django.urls import URLPattern, re_path

from apps.gateway.completions import CompletionConsumer
from apps.gateway.consumers import (
    NO_BASE_URL,
    ConfigurationConsumer,
    EntryConsumer,
    HealthConsumer,
    ListConsumer,
    NotFoundConsumer,
    ReadyConsumer,
)
from apps.gateway.embeddings import EmbeddingsConsumer
from apps.gateway.files import BucketConsumer, FileConsumer, MetadataConsumer
from apps.gateway.metrics import MetricsConsumer
from apps.live.hub import HUB
from apps.runs.workspaces import open_workspace

# An application that DIAL Core keeps has slashes in its id, such as applications/{bucket}/{name}.
DEPLOYMENT = r"^openai/deployments/(?P<slug>.+?)"
MODELS = r"^(?:openai/(?:v1/)?(?:models|deployments)|v1/models)"

complete = CompletionConsumer.as_asgi(
    open_workspace=open_workspace, recorded=HUB.summaries.recorded
)
embed = EmbeddingsConsumer.as_asgi(keep=HUB.summaries.keep)

# The first match is taken, so the most frequent address comes first. OpenAI's clients use the
# addresses under v1 and name the application in the body; DIAL's use them for files.
urlpatterns: list[URLPattern] = [
    re_path(rf"{DEPLOYMENT}/chat/completions/?$", complete),
    re_path(r"^(?:openai/)?v1/chat/completions/?$", complete),
    re_path(rf"{DEPLOYMENT}/embeddings/?$", embed),
    re_path(r"^(?:openai/)?v1/embeddings/?$", embed),
    re_path(rf"{DEPLOYMENT}/configuration/?$", ConfigurationConsumer.as_asgi()),
    re_path(rf"{MODELS}/?$", ListConsumer.as_asgi()),
    re_path(rf"{MODELS}/(?P<slug>[^/]+|applications/.+?)/?$", EntryConsumer.as_asgi()),
    re_path(r"^v1/bucket/?$", BucketConsumer.as_asgi()),
    re_path(r"^v1/files/(?P<bucket>[^/]+)(?:/(?P<name>.*))?$", FileConsumer.as_asgi()),
    re_path(r"^v1/metadata/files/(?P<bucket>[^/]+)(?:/(?P<name>.*))?$", MetadataConsumer.as_asgi()),
    re_path(r"^healthz$", HealthConsumer.as_asgi()),
    re_path(r"^readyz$", ReadyConsumer.as_asgi()),
    re_path(r"^metrics$", MetricsConsumer.as_asgi()),
    re_path(r"^openai(?:/|$)|^v1(?:/(?!configuration-support/)|$)", NotFoundConsumer.as_asgi()),
]


def otherwise(application: Any) -> list[URLPattern]:
    """The routes of requests for which there is no consumer."""
    return [re_path(r"^chat/completions/?$", misplaced(application)), re_path(r"", application)]


def misplaced(application: Any) -> Any:
    """`POST` comes from clients with a wrong base_url; `GET` is the page of an application."""
    not_found = NotFoundConsumer.as_asgi(advice=NO_BASE_URL)

    async def route(scope: Any, receive: Any, send: Any) -> None:
        await (not_found if scope["method"] == "POST" else application)(scope, receive, send)

    return route
