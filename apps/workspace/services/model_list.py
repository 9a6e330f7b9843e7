"""The models that a service offers, for APIs that list them as OpenAI's does."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import msgspec

from apps.agent.surrogates import decode_json
from apps.errors import EgressRefused, ModelFailed
from apps.workspace.egress.sdk_clients import HTTPError, InvalidURL
from apps.workspace.egress.transport import TooLarge
from apps.workspace.services.client import Service, find_client
from apps.workspace.services.failures import failure_of_connection

MODELS = "models"
MOST_BYTES = 8 * 1024 * 1024
MOST_LISTED = 1000
SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ListedModel:
    """`id` is the model's name in requests; `facts` is all that the service says of it."""

    id: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def display_name(self) -> str:
        name = self.facts.get("display_name")
        return name if isinstance(name, str) and name else self.id


async def list_models(service: Service) -> list[ListedModel]:
    """By name. Raises `ModelFailed`."""
    try:
        async with asyncio.timeout(SECONDS):
            answer = await find_client(service).fetch(SECONDS)
            async with aclosing(answer.body):
                data = await answer.read(MOST_BYTES)
    except (HTTPError, InvalidURL, EgressRefused) as error:
        raise failure_of_connection(error) from error
    except TimeoutError as error:
        raise ModelFailed(f"No list within {SECONDS:g} seconds.", reason="timeout") from error
    except TooLarge as error:
        raise ModelFailed("The list of models is too large.", reason="stream") from error
    found = {model.id: model for model in read_list(data)}
    return sorted(found.values(), key=lambda model: model.id)


def read_list(data: bytes) -> list[ListedModel]:
    """Entries without a name are left out. Raises `ModelFailed`."""
    try:
        written = decode_json(msgspec.json.decode, data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        written = None
    entries = written.get("data") if isinstance(written, Mapping) else None
    if not isinstance(entries, list):
        raise ModelFailed("The service sent no list of models.", reason="stream")
    named = [one for one in entries if isinstance(one, Mapping) and is_name(one.get("id"))]
    return [ListedModel(one["id"], one) for one in named[:MOST_LISTED]]


def is_name(name: Any) -> bool:
    return isinstance(name, str) and 0 < len(name) <= 200 and name.isprintable()
