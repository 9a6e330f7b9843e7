"""Lists the models of a service whose API returns model lists in OpenAI's format."""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import msgspec

from apps.agent.surrogates import decode_json
from apps.errors import EgressRefused, ModelFailed
from apps.workspace.egress.sdk_clients import HTTPError, InvalidURL
from apps.workspace.egress.transport import ResponseTooLarge
from apps.workspace.model_capabilities import ModelCapabilities, token_limit
from apps.workspace.services.client import ModelService, find_client
from apps.workspace.services.failures import failure_of_connection

MODELS = "models"
MOST_BYTES = 8 * 1024 * 1024
MOST_LISTED = 1000
SECONDS = 30.0
WINDOWS = ("context_length", "max_model_len", "context_window", "max_context_length")
OUTPUTS = ("max_completion_tokens", "max_output_tokens")
MODALITIES: Mapping[str, str] = {"vision": "image", "documents": "file", "audio_input": "audio"}
PARAMETERS: Mapping[str, str] = {
    "tools": "tools",
    "structured_output": "structured_outputs",
    "reasoning": "reasoning",
}


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model that a service lists."""

    id: str
    """The model's name in requests."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Everything that the service reports about the model."""

    @property
    def display_name(self) -> str:
        name = self.facts.get("display_name")
        return name if isinstance(name, str) and name else self.id


async def list_models(service: ModelService) -> list[ListedModel]:
    """Return the models that the service offers, sorted by name. Raises `ModelFailed` if the
    service fails.
    """
    try:
        async with asyncio.timeout(SECONDS):
            answer = await find_client(service).fetch(SECONDS)
            async with aclosing(answer.body):
                data = await answer.read(MOST_BYTES)
    except (HTTPError, InvalidURL, EgressRefused) as error:
        raise failure_of_connection(error) from error
    except TimeoutError as error:
        raise ModelFailed(
            f"The list timed out after {SECONDS:g} seconds.", reason="timeout"
        ) from error
    except ResponseTooLarge as error:
        raise ModelFailed("The list of models is too large.", reason="stream") from error
    found = {model.id: model for model in read_list(data)}
    return sorted(found.values(), key=lambda model: model.id)


def read_list(data: bytes) -> list[ListedModel]:
    """Parse a list of models. Entries without a name are omitted. Raises `ModelFailed` if the list
    cannot be parsed.
    """
    try:
        written = decode_json(msgspec.json.decode, data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        written = None
    entries = written.get("data") if isinstance(written, Mapping) else None
    if not isinstance(entries, list):
        raise ModelFailed("The service did not return a list of models.", reason="stream")
    named = [one for one in entries if isinstance(one, Mapping) and is_name(one.get("id"))]
    return [ListedModel(one["id"], one) for one in named[:MOST_LISTED]]


def is_name(name: Any) -> bool:
    return isinstance(name, str) and 0 < len(name) <= 200 and name.isprintable()


def listed_capabilities(facts: Mapping[str, Any]) -> ModelCapabilities:
    """Return the capabilities that an entry in the service's model list reports."""
    top, written = member(facts, "top_provider"), member(facts, "capabilities")
    limits = ModelCapabilities(
        context_window=first_count(facts.get(name) for name in WINDOWS),
        max_output_tokens=first_count(one.get(name) for one in (facts, top) for name in OUTPUTS),
    )
    flags = {"tools": written.get("function_calling"), "vision": written.get("vision")}
    listed = ModelCapabilities(**{n: flag for n, flag in flags.items() if isinstance(flag, bool)})
    inputs = member(facts, "architecture").get("input_modalities")
    return limits.over(listed).over(
        ModelCapabilities(
            **named_in(inputs, MODALITIES),
            **named_in(facts.get("supported_parameters"), PARAMETERS),
        )
    )


def named_in(listed: Any, names: Mapping[str, str]) -> dict[str, bool]:
    """Map each key of `names` to True if its value is in the list, otherwise to False. Return {} if
    `listed` is not a list or is empty.
    """
    if not isinstance(listed, list) or not listed:
        return {}
    return {capability: name in listed for capability, name in names.items()}


def member(facts: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = facts.get(name)
    return found if isinstance(found, Mapping) else {}


def first_count(values: Iterable[Any]) -> int | None:
    return next((count for value in values if (count := token_limit(value))), None)
