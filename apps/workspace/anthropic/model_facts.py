"""What Anthropic's list of models says of each, as columns of a deployment."""

from collections.abc import Mapping
from typing import Any

from apps.workspace.anthropic.contents import PDF

PICTURES = "image/*"


def columns_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """`features`, `input_attachment_types` and `context_window`, as far as the list tells them."""
    window = facts.get("max_input_tokens")
    kinds = ((PICTURES, "image_input"), (PDF, "pdf_input"))
    return {
        "features": features_of(facts),
        "input_attachment_types": [kind for kind, name in kinds if can(facts, name)],
        "context_window": window if is_count(window) else None,
    }


def features_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The features that `ModelTraits` reads."""
    most = facts.get("max_tokens")
    features: dict[str, Any] = {"max_output_tokens": most} if is_count(most) else {}
    has_budget = can(facts, "thinking", "types", "enabled")
    if has_budget and not can(facts, "thinking", "types", "adaptive"):
        features["thinking"] = "budget"
    return features


def can(facts: Mapping[str, Any], *path: str) -> bool:
    found: Any = facts.get("capabilities")
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return isinstance(found, Mapping) and found.get("supported") is True


def is_count(value: Any) -> bool:
    return type(value) is int and 0 < value < 2**31
