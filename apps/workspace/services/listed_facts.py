"""What services with OpenAI's list of models say there of what each can do.

The API itself has names alone; Groq, Mistral, OpenRouter, vLLM and others add facts.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from apps.workspace.model_capabilities import ModelCapabilities, tokens

WINDOWS = ("context_length", "max_model_len", "context_window", "max_context_length")
OUTPUTS = ("max_completion_tokens", "max_output_tokens")
MODALITIES: Mapping[str, str] = {"vision": "image", "documents": "file", "audio_input": "audio"}
PARAMETERS: Mapping[str, str] = {
    "tools": "tools",
    "structured_output": "structured_outputs",
    "reasoning": "reasoning",
}


def listed_capabilities(facts: Mapping[str, Any]) -> ModelCapabilities:
    """Those that an entry of the list tells."""
    top, written = member(facts, "top_provider"), member(facts, "capabilities")
    limits = ModelCapabilities(
        context_window=first_count(facts.get(name) for name in WINDOWS),
        max_output_tokens=first_count(one.get(name) for one in (facts, top) for name in OUTPUTS),
    )
    flags = {"tools": written.get("function_calling"), "vision": written.get("vision")}
    told = ModelCapabilities(**{n: flag for n, flag in flags.items() if isinstance(flag, bool)})
    inputs = member(facts, "architecture").get("input_modalities")
    return limits.over(told).over(
        ModelCapabilities(
            **named_in(inputs, MODALITIES),
            **named_in(facts.get("supported_parameters"), PARAMETERS),
        )
    )


def named_in(listed: Any, names: Mapping[str, str]) -> dict[str, bool]:
    """Nothing, unless there is a list."""
    if not isinstance(listed, list) or not listed:
        return {}
    return {capability: name in listed for capability, name in names.items()}


def member(facts: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = facts.get(name)
    return found if isinstance(found, Mapping) else {}


def first_count(values: Iterable[Any]) -> int | None:
    return next((count for value in values if (count := tokens(value))), None)
