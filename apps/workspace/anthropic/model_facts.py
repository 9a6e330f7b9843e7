"""What Anthropic's list of models says of each, as columns of a deployment."""

from collections.abc import Mapping
from typing import Any

from apps.workspace.anthropic.contents import PDF
from apps.workspace.model_capabilities import tokens

PICTURES = "image/*"
CAPABILITIES: Mapping[str, str] = {
    "vision": "image_input",
    "documents": "pdf_input",
    "structured_output": "structured_outputs",
    "reasoning": "thinking",
}
"""Columns of a deployment, and the list's names for them."""


def columns_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Its features, types of attachments, capabilities and window, as far as the list tells them."""
    limits = (("context_window", "max_input_tokens"), ("max_output_tokens", "max_tokens"))
    kinds = ((PICTURES, "image_input"), (PDF, "pdf_input"))
    return {
        "features": features_of(facts),
        "input_attachment_types": [kind for kind, name in kinds if can(facts, name)],
        **{column: tokens(facts.get(name)) for column, name in limits},
        **{column: is_supported(facts, name) for column, name in CAPABILITIES.items()},
    }


def features_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """How the model is told to think, which `ModelTraits` reads."""
    has_budget = can(facts, "thinking", "types", "enabled")
    is_adaptive = can(facts, "thinking", "types", "adaptive")
    return {"thinking": "budget"} if has_budget and not is_adaptive else {}


def can(facts: Mapping[str, Any], *path: str) -> bool:
    return is_supported(facts, *path) is True


def is_supported(facts: Mapping[str, Any], *path: str) -> bool | None:
    """None where the list does not say."""
    found: Any = facts.get("capabilities")
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    supported = found.get("supported") if isinstance(found, Mapping) else None
    return supported if isinstance(supported, bool) else None
