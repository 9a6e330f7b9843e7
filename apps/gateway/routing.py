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
from apps.runs.workspaces import open_workspace

DEPLOYMENT = r"^openai/deployments/(?P<slug>[^/]+)"


complete = CompletionConsumer.as_asgi(open_workspace=open_workspace)

# The first one that matches is taken, so the one that is asked most often comes first. The
# addresses under v1 are those of OpenAI's clients, which name the application in the body.
urlpatterns: list[URLPattern] = [
    re_path(rf"{DEPLOYMENT}/chat/completions/?$", complete),
    re_path(r"^openai/v1/chat/completions/?$", complete),
    re_path(rf"{DEPLOYMENT}/configuration/?$", ConfigurationConsumer.as_asgi()),
    re_path(r"^openai/(v1/)?(models|deployments)/?$", ListConsumer.as_asgi()),
    re_path(r"^openai/(v1/)?(models|deployments)/(?P<slug>[^/]+)/?$", EntryConsumer.as_asgi()),
    re_path(r"^healthz$", HealthConsumer.as_asgi()),
    re_path(r"^readyz$", ReadyConsumer.as_asgi()),
]


def otherwise(application: Any) -> list[URLPattern]:
    """Everything that no consumer took."""
    return [re_path(r"", application)]
