from __future__ import annotations

import re

import msgspec
import pytest

from apps.workspace.known_models import CATALOGUE, known_model, listed_window, read_catalogue
from apps.workspace.model_capabilities import CAPABILITIES, UNKNOWN, ModelCapabilities
from tests.tables import each_row

SAME = [
    ("gpt-4o", "openai/gpt-4o-2024-08-06", "GPT-4o", "ft:gpt-4o-2024-08-06:acme::id"),
    ("gpt-3.5-turbo", "gpt-35-turbo", "gpt-3.5-turbo-1106"),
    (
        "claude-sonnet-4-0",
        "claude-sonnet-4-20250514",
        "us.anthropic.claude-sonnet-4-20250514-v1:0",
        "claude-sonnet-4@20250514",
        "anthropic/claude-sonnet-4",
    ),
    (
        "claude-3-5-sonnet-latest",
        "anthropic.claude-3-5-sonnet-20241022-v2:0",
        "claude-3-5-sonnet-v2@20241022",
        "anthropic/claude-3.5-sonnet",
    ),
    ("gemini-2.5-pro", "models/gemini-2.5-pro-preview-05-06", "google/gemini-2.5-pro"),
    (
        "llama3.1",
        "llama3.1:8b-instruct-q4_K_M",
        "meta.llama3-1-70b-instruct-v1:0",
        "meta-llama/Llama-3.1-8B-Instruct",
        "llama-3.1-8b-instant",
    ),
    ("mistral-large-2402", "mistral.mistral-large-2402-v1:0"),
]


@pytest.mark.parametrize("names", SAME, ids=[names[0] for names in SAME])
def test_a_model_is_known_however_it_is_spelled(names):
    assert known_model(names[0]) != UNKNOWN
    assert {known_model(name) for name in names} == {known_model(names[0])}


@each_row(
    ("name", "told"),
    [
        ("o1-mini", {"tools": False, "vision": False, "reasoning": True}),
        ("gpt-3.5-turbo", {"tools": True, "vision": False, "structured_output": False}),
        ("gpt-4o-2024-05-13", {"structured_output": False, "max_output_tokens": 4096}),
        ("gpt-4o", {"structured_output": True, "max_output_tokens": 16_384}),
        ("gpt-4-turbo-preview", {"vision": False}),
        ("gpt-4-turbo-2024-04-09", {"vision": True}),
        ("anthropic.claude-v2:1", {"tools": False, "vision": False}),
        ("claude-opus-4-1-20250805", {"max_output_tokens": 32_000, "context_window": 200_000}),
        ("amazon.nova-micro-v1:0", {"vision": False, "tools": True}),
        ("deepseek.r1-v1:0", {"vision": False, "reasoning": True, "tools": None}),
    ],
)
def test_models_are_told_apart(name, told):
    assert {fact: getattr(known_model(name), fact) for fact in told} == told


@each_row(
    "name",
    [
        *("", "gpt", "claude", "my-gpt-4", "gpt-4-foo", "gpt-4o-realtime-preview", "gpt-5-image"),
        *("gemini-2.5-flash-image", "gpt-3.5-turbo-instruct", "text-embedding-3-small", "x" * 500),
    ],
)
def test_what_is_not_known_for_sure_is_unknown(name):
    assert known_model(name) == UNKNOWN


def test_the_catalogue_is_read_whole():
    entries = msgspec.json.decode(CATALOGUE.read_bytes())

    assert len(read_catalogue()) == len(entries) >= 60
    assert {key for entry in entries for key in entry} <= {"names", *CAPABILITIES}
    assert all(re.compile(name) for entry in entries for name in entry["names"])


def test_no_pattern_stands_in_it_twice():
    patterns = [known.pattern.pattern for known in read_catalogue()]

    assert len(patterns) == len(set(patterns))


@pytest.mark.parametrize(
    ("name", "address", "window"),
    [
        ("gpt-4o", "https://api.openai.com/v1", 128_000),
        ("us.anthropic.claude-opus-4-20250514-v1:0", "https://api.anthropic.com/v1", 200_000),
        ("no-such-model", "https://api.openai.com/v1", None),
        ("gpt-4o", "https://models.example.com/v1", None),
        ("gpt-4o", "http://127.0.0.1:8000/v1", None),
        ("gpt-4o", "http://ollama:11434/v1", None),
        ("gpt-4o", "", None),
    ],
)
def test_a_window_is_taken_from_the_list_of_the_services_owner_alone(name, address, window):
    assert listed_window(name, address) == window


def test_layers_of_knowledge_lie_over_each_other():
    upper = ModelCapabilities(tools=False, context_window=8)
    lower = ModelCapabilities(tools=True, vision=True)

    assert upper.over(lower) == ModelCapabilities(tools=False, vision=True, context_window=8)


@pytest.mark.parametrize(
    ("kind", "reads"),
    [
        ("image/png", False),
        ("audio/mpeg", None),
        ("application/pdf", True),
        ("Application/PDF; x=y", True),
        ("text/plain", None),
    ],
)
def test_what_a_model_reads_is_told_by_media_types(kind, reads):
    assert ModelCapabilities(vision=False, documents=True).reads(kind) is reads
