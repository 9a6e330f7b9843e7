from __future__ import annotations

import pytest

from apps.workspace.model_capabilities import UNKNOWN, ModelCapabilities
from apps.workspace.services.model_list import listed_capabilities

OPENROUTER = {
    "id": "x",
    "context_length": 128_000,
    "top_provider": {"max_completion_tokens": 4096},
    "architecture": {"input_modalities": ["text", "image"]},
    "supported_parameters": ["tools", "temperature"],
}
MISTRAL = {
    "id": "x",
    "capabilities": {"function_calling": True, "vision": False},
    "max_context_length": 32_768,
}


@pytest.mark.parametrize(
    ("facts", "can"),
    [
        (
            OPENROUTER,
            ModelCapabilities(
                tools=True,
                vision=True,
                documents=False,
                audio_input=False,
                structured_output=False,
                reasoning=False,
                context_window=128_000,
                max_output_tokens=4096,
            ),
        ),
        (MISTRAL, ModelCapabilities(tools=True, vision=False, context_window=32_768)),
        ({"id": "x", "max_model_len": 4096}, ModelCapabilities(context_window=4096)),
        (
            {"id": "x", "context_window": 8192, "max_completion_tokens": 512},
            ModelCapabilities(context_window=8192, max_output_tokens=512),
        ),
        ({"id": "gpt-4o", "object": "model", "owned_by": "openai"}, UNKNOWN),
        (
            {
                "context_length": "many",
                "top_provider": [],
                "capabilities": {"vision": "yes"},
                "architecture": {"input_modalities": "image"},
                "supported_parameters": [],
            },
            UNKNOWN,
        ),
    ],
    ids=["OpenRouter", "Mistral", "vLLM", "Groq", "OpenAI", "nonsense"],
)
def test_what_a_service_lists_of_a_model_is_read(facts, can):
    assert listed_capabilities(facts) == can
