"""Where the gateway's consumers are, and the way past them to Django."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, re_path

from apps.gateway.completions import CompletionConsumer
from apps.gateway.consumers import (
    ConfigurationConsumer,
    EntryConsumer,
    HealthConsumer,
    ListConsumer,
    ReadyConsumer,
)
from apps.gateway.files import BucketConsumer, FileConsumer, MetadataConsumer
from apps.gateway.nowhere import NO_BASE_URL, NO_EMBEDDINGS, NowhereConsumer
from apps.runs.workspaces import open_workspace

# An application that DIAL Core keeps has slashes in its id, such as applications/{bucket}/{name}.
DEPLOYMENT = r"^openai/deployments/(?P<slug>.+?)"
MODELS = r"^(?:openai/(?:v1/)?(?:models|deployments)|v1/models)"

complete = CompletionConsumer.as_asgi(open_workspace=open_workspace)

# The first one that matches is taken, so the one that is asked most often comes first. The
# addresses under v1 are those of OpenAI's clients, which name the application in the body, and
# of DIAL's, for files.
urlpatterns: list[URLPattern] = [
    re_path(rf"{DEPLOYMENT}/chat/completions/?$", complete),
    re_path(r"^(?:openai/)?v1/chat/completions/?$", complete),
    re_path(rf"{DEPLOYMENT}/configuration/?$", ConfigurationConsumer.as_asgi()),
    re_path(rf"{MODELS}/?$", ListConsumer.as_asgi()),
    re_path(rf"{MODELS}/(?P<slug>[^/]+|applications/.+?)/?$", EntryConsumer.as_asgi()),
    re_path(r"^v1/bucket/?$", BucketConsumer.as_asgi()),
    re_path(r"^v1/files/(?P<bucket>[^/]+)(?:/(?P<name>.*))?$", FileConsumer.as_asgi()),
    re_path(r"^v1/metadata/files/(?P<bucket>[^/]+)(?:/(?P<name>.*))?$", MetadataConsumer.as_asgi()),
    re_path(r"^healthz$", HealthConsumer.as_asgi()),
    re_path(r"^readyz$", ReadyConsumer.as_asgi()),
    re_path(
        r"^(?:openai/)?(?:v1/|deployments/.+/)?embeddings/?$",
        NowhereConsumer.as_asgi(advice=NO_EMBEDDINGS),
    ),
    re_path(r"^openai(?:/|$)|^v1(?:/(?!configuration-support/)|$)", NowhereConsumer.as_asgi()),
]


def otherwise(application: Any) -> list[URLPattern]:
    """Everything that no consumer took."""
    return [re_path(r"^chat/completions/?$", misplaced(application)), re_path(r"", application)]


def misplaced(application: Any) -> Any:
    """What a client whose base_url has no path posts; else it is the page of an application."""
    nowhere = NowhereConsumer.as_asgi(advice=NO_BASE_URL)

    async def route(scope: Any, receive: Any, send: Any) -> None:
        await (nowhere if scope["method"] == "POST" else application)(scope, receive, send)

    return route
