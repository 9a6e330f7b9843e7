"""A model behind a service that speaks OpenAI's Responses API."""

from functools import partial

from django.conf import settings

from apps.workspace.openai.model import make_service
from apps.workspace.responses.events import ResponseEvents, read_response
from apps.workspace.responses.requests import encode_request
from apps.workspace.services.client import Service
from apps.workspace.services.model import MOST_BYTES, Api, ServiceModel

RESPONSES = "responses"
MOST_EVENT_BYTES = MOST_BYTES
"""The last event has the whole answer once more, with the pictures that were drawn."""


def make_model(
    *, base_url: str, api_key: str, model: str, idle_seconds: float | None = None
) -> ServiceModel[Service]:
    """`base_url` ends with the version; `idle_seconds` defaults to a tool's time-out."""
    return ServiceModel(
        service=make_service(base_url, api_key, RESPONSES),
        name=model,
        api=Api(
            partial(encode_request, model=model), ResponseEvents, read_response, MOST_EVENT_BYTES
        ),
        idle_seconds=idle_seconds or settings.DEFAULT_TOOL_TIMEOUT_SECONDS,
    )
