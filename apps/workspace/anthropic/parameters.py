"""Converts the parameters of a provider-neutral request to parameters of the Messages API."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from apps.workspace.services.client import log_left_out

Fields = dict[str, Any]
Thinking = Literal["adaptive", "budget"]

VERSION = "2026-10-21"
"""The default API version, the same as in the vendor's SDK."""
FORMER_VERSION = "2023-06-01"
"""The API version for services that do not support `VERSION`. Only this version accepts the
parameters in `SAMPLING`.
"""
USUAL_OUTPUT = 4096
"""The output token limit if neither the request nor the deployment sets one. The API requires a
limit.
"""
LEAST_BUDGET = 1024
"""The API's minimum number of thinking tokens."""
EFFORTS: Mapping[str, tuple[str, int]] = {
    "minimal": ("low", LEAST_BUDGET),
    "low": ("low", 2048),
    "medium": ("medium", 8192),
    "high": ("high", 16_384),
    "xhigh": ("xhigh", 32_768),
    "max": ("max", 32_768),
}
"""Maps each `reasoning_effort` to the API's effort and to a number of thinking tokens. Above 32,768
tokens, the vendor advises against streaming.
"""
OFF = {"type": "disabled"}
CHOICES = {"auto": "auto", "required": "any", "none": "none"}
SAMPLING = ("temperature", "top_p", "top_k")
OWN = frozenset({"container", "inference_geo", "speed", "stop_sequences"})
"""Parameters that only this API has. They are sent unchanged."""
READ = frozenset(
    {
        *SAMPLING,
        *OWN,
        "max_tokens",
        "max_completion_tokens",
        "metadata",
        "output_config",
        "parallel_tool_calls",
        "reasoning_effort",
        "response_format",
        "service_tier",
        "stop",
        "stream_options",
        "thinking",
        "tool_choice",
        "user",
    }
)


@dataclass(frozen=True, slots=True)
class ModelTraits:
    """The properties that differ between models, and between services with this API."""

    most_output: int | None = None
    """The output token limit."""
    thinking: Thinking = "adaptive"
    """The way to request thinking from the model."""
    version: str = VERSION

    @classmethod
    def of(cls, features: Mapping[str, Any]) -> Self:
        most = features.get("max_output_tokens")
        return cls(
            most if type(most) is int and most > 0 else None,
            "budget" if features.get("thinking") == "budget" else "adaptive",
            FORMER_VERSION if features.get("api_version") == FORMER_VERSION else VERSION,
        )


def write_parameters(
    parameters: Mapping[str, Any], traits: ModelTraits, model: str, *, has_tools: bool
) -> Fields:
    """Return the fields of a request, except for its model, messages, system prompt and tools."""
    for name in parameters:
        if name not in READ and parameters[name] is not None:
            log_left_out(model, name)
    written: Fields = {"max_tokens": most_tokens(parameters, traits)}
    written |= {name: parameters[name] for name in sorted(OWN) if parameters.get(name) is not None}
    if (stop := parameters.get("stop")) is not None:
        written["stop_sequences"] = [stop] if isinstance(stop, str) else stop
    choice = write_choice(parameters, model) if has_tools else None
    if choice is not None:
        written["tool_choice"] = choice
    # A model that is forced to call a tool cannot think before the call.
    is_forced = choice is not None and choice["type"] in ("any", "tool")
    thinking = {} if is_forced else write_thinking(parameters, traits, written["max_tokens"], model)
    written |= thinking
    thinks = thinking.get("thinking", OFF)["type"] != OFF["type"]
    written |= write_sampling(parameters, traits, model, thinks=thinks)
    if config := write_output(parameters, model, thinking.get("output_config", {})):
        written["output_config"] = config
    return written | write_account(parameters)


def most_tokens(parameters: Mapping[str, Any], traits: ModelTraits) -> int:
    """Return the output token limit. If neither the request nor the deployment sets one, return the
    default plus the tokens for thinking.
    """
    limits = (
        parameters.get("max_completion_tokens"),
        parameters.get("max_tokens"),
        traits.most_output,
    )
    for limit in limits:
        if type(limit) is int and limit > 0:
            return limit
    return USUAL_OUTPUT + EFFORTS.get(str(parameters.get("reasoning_effort")), ("", 0))[1]


def write_thinking(
    parameters: Mapping[str, Any], traits: ModelTraits, most: int, model: str
) -> Fields:
    """Return the fields of a request that control thinking. `most` is the token limit for the whole
    answer.

    The thinking budget leaves `USUAL_OUTPUT` tokens of this limit for the text, or half of the
    limit if it is small.
    """
    own = parameters.get("thinking")
    if isinstance(own, Mapping) and "type" in own:
        return {"thinking": own}
    effort = parameters.get("reasoning_effort")
    if effort == "none":
        return {"thinking": OFF}
    if effort is None:
        return {}
    if not isinstance(effort, str) or effort not in EFFORTS:
        log_left_out(model, "reasoning_effort")
        return {}
    level, tokens = EFFORTS[effort]
    if traits.thinking == "adaptive":
        thinking = {"type": "adaptive", "display": "summarized"}
        return {"thinking": thinking, "output_config": {"effort": level}}
    budget = min(tokens, max(most - USUAL_OUTPUT, most // 2))
    if budget < LEAST_BUDGET:
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def write_sampling(
    parameters: Mapping[str, Any], traits: ModelTraits, model: str, *, thinks: bool
) -> Fields:
    found = {name: parameters[name] for name in SAMPLING if parameters.get(name) is not None}
    if traits.version == FORMER_VERSION and not thinks:
        return found
    for name in found:
        log_left_out(model, name)
    return {}


def write_choice(parameters: Mapping[str, Any], model: str) -> Fields | None:
    """Return the `tool_choice` for a request, or None for the API's default."""
    chosen = parameters.get("tool_choice")
    choice: Fields | None = None
    match chosen:
        case {"type": "function", "function": {"name": str(name)}}:
            choice = {"type": "tool", "name": name}
        case str() if chosen in CHOICES:
            choice = {"type": CHOICES[chosen]}
        case None:
            pass
        case _:
            log_left_out(model, "tool_choice")
    if parameters.get("parallel_tool_calls") is not False:
        return choice
    choice = choice or {"type": "auto"}
    return choice if choice["type"] == "none" else {**choice, "disable_parallel_tool_use": True}


def write_output(parameters: Mapping[str, Any], model: str, config: Fields) -> Fields:
    """Return `config` with the JSON Schema for the answer added, if the request requires a schema."""
    match parameters.get("response_format"):
        case {"type": "json_schema", "json_schema": {"schema": Mapping() as schema}}:
            config = {**config, "format": {"type": "json_schema", "schema": schema}}
        case None | {"type": "text"}:
            pass
        case _:
            log_left_out(model, "response_format")
    own = parameters.get("output_config")
    return {**config, **own} if isinstance(own, Mapping) else config


def write_account(parameters: Mapping[str, Any]) -> Fields:
    """Return the request's user ID and service tier in the API's format. Other metadata is omitted,
    because the API rejects it.
    """
    written: Fields = {}
    metadata = parameters.get("metadata")
    user = metadata.get("user_id") if isinstance(metadata, Mapping) else None
    if user := user or parameters.get("user"):
        written["metadata"] = {"user_id": user}
    tier = {"default": "standard_only"}.get(
        str(parameters.get("service_tier")), parameters.get("service_tier")
    )
    if tier in ("auto", "standard_only"):
        written["service_tier"] = tier
    return written
