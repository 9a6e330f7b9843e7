"""A model behind a service that speaks OpenAI's chat completions."""

from collections.abc import Mapping
from functools import lru_cache, partial

from django.conf import settings

from apps.workspace.openai.clients import OpenAIService
from apps.workspace.openai.completions import read_completion
from apps.workspace.openai.events import CompletionEvents
from apps.workspace.openai.requests import encode_request
from apps.workspace.services.client import MOST_CLIENTS, Service
from apps.workspace.services.model import Api, ServiceModel

COMPLETIONS = "chat/completions"


def completions_api(model: str, *, dial: bool) -> Api:
    """`dial` lets `custom_content` through."""
    encode = partial(encode_request, model=model, dial=dial)
    return Api(encode, CompletionEvents, read_completion)


def make_service(
    base_url: str,
    api_key: str,
    path: str = COMPLETIONS,
    *,
    dial: bool = False,
    headers: Mapping[str, str] | None = None,
) -> OpenAIService:
    """DIAL reads the key in a header of its own, and refuses a request that has a bearer token too."""
    sent = dict(headers or {})
    if dial and api_key:
        sent["Api-Key"], api_key = api_key, ""
    return OpenAIService(base_url, path, tuple(sorted(sent.items())), api_key)


def make_model(
    *,
    base_url: str,
    api_key: str,
    model: str,
    dial: bool = False,
    idle_seconds: float | None = None,
) -> ServiceModel[Service]:
    """`base_url` ends with the version; `idle_seconds` defaults to a tool's time-out."""
    seconds = idle_seconds or settings.DEFAULT_TOOL_TIMEOUT_SECONDS
    return kept_model(base_url, api_key, model, dial, seconds)


@lru_cache(maxsize=MOST_CLIENTS)
def kept_model(
    base_url: str, api_key: str, model: str, dial: bool, seconds: float
) -> ServiceModel[Service]:
    """Made once, and not for each run."""
    service = make_service(base_url, api_key, dial=dial)
    return ServiceModel(service, model, completions_api(model, dial=dial), seconds)
