"""A model behind Anthropic's Messages API."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings

from apps.agent.model import Delta, ModelRequest
from apps.workspace.anthropic.events import MessageEvents
from apps.workspace.anthropic.parameters import FORMER_VERSION, ModelTraits
from apps.workspace.anthropic.requests import encode_request
from apps.workspace.services.client import Headers, Service
from apps.workspace.services.model import Api, ServiceModel

MESSAGES = "messages"


@dataclass(frozen=True, slots=True)
class AnthropicModel:
    """`name` is the model's name at the service, `idle_seconds` how long it may be silent."""

    service: Service
    name: str
    traits: ModelTraits
    idle_seconds: float

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """As `ServiceModel.stream`; an answer that the service pauses is asked to go on."""
        events = MessageEvents()
        while True:
            asked = ServiceModel(self.service, self.name, self.api(events), self.idle_seconds)
            async with aclosing(asked.stream(request)) as batches:
                async for batch in batches:
                    yield batch
            if not events.is_paused:
                return
            events.resume()

    def write(self, request: ModelRequest) -> bytes:
        return self.api(MessageEvents()).encode(request)

    def api(self, events: MessageEvents) -> Api:
        encode = partial(
            encode_request, model=self.name, traits=self.traits, begun=tuple(events.blocks)
        )
        return Api(encode, lambda: events, events.read_whole)


def key_headers(api_key: str, features: Mapping[str, Any]) -> Headers:
    version = ModelTraits.of(features).version
    headers: Headers = (("anthropic-version", version),)
    if not api_key:
        return headers
    if version == FORMER_VERSION:
        return (*headers, ("x-api-key", api_key))
    return (*headers, ("Authorization", f"Bearer {api_key}"))


def make_model(
    *,
    base_url: str,
    api_key: str,
    model: str,
    features: Mapping[str, Any] | None = None,
    idle_seconds: float | None = None,
) -> AnthropicModel:
    """`base_url` ends with the version; `features` are read by `ModelTraits`.

    `idle_seconds` defaults to a tool's time-out.
    """
    return AnthropicModel(
        Service(base_url, MESSAGES, key_headers(api_key, features or {})),
        model,
        ModelTraits.of(features or {}),
        idle_seconds or settings.DEFAULT_TOOL_TIMEOUT_SECONDS,
    )
