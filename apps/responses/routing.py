"""Routes the URLs of the Responses API."""

from typing import Any

from django.urls import URLPattern, re_path

from apps.responses.compaction import CompactConsumer, TokenCountConsumer
from apps.responses.consumers import ResponseConsumer
from apps.responses.stored_consumers import (
    InputItemsConsumer,
    ResponseCancelConsumer,
    StoredResponseConsumer,
)

BASE = r"^(?:openai/)?v1/responses"
respond: Any = ResponseConsumer.as_asgi()

urlpatterns: list[URLPattern] = [
    re_path(r"^openai/deployments/(?P<slug>.+?)/responses/?$", respond),
    re_path(rf"{BASE}/?$", respond),
    re_path(rf"{BASE}/compact/?$", CompactConsumer.as_asgi()),
    re_path(rf"{BASE}/input_tokens/?$", TokenCountConsumer.as_asgi()),
    re_path(rf"{BASE}/(?P<response>[^/]+)/?$", StoredResponseConsumer.as_asgi()),
    re_path(rf"{BASE}/(?P<response>[^/]+)/cancel/?$", ResponseCancelConsumer.as_asgi()),
    re_path(rf"{BASE}/(?P<response>[^/]+)/input_items/?$", InputItemsConsumer.as_asgi()),
]
