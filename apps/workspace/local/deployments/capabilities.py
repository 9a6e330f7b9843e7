"""Determines the capabilities of a deployment's model from its database row, or from public facts
about the model.
"""

from urllib.parse import urlsplit

from apps.workspace.known_models import known_model, listed_window
from apps.workspace.local.deployments.deployment import Deployment
from apps.workspace.model_capabilities import (
    CAPABILITIES,
    UNKNOWN,
    ModelCapabilities,
    read_features,
    read_types,
)

# The demo model never rejects images or formats. It describes what it received, and adds that it
# cannot see it.
DEMO = ModelCapabilities(
    tools=True, parallel_tools=True, audio_output=False, reasoning=False, caching=False
)
SERVICES = frozenset(
    {Deployment.Provider.OPENAI, Deployment.Provider.ANTHROPIC, Deployment.Provider.RESPONSES}
)
"""The providers whose models are looked up by name."""

OPENAI_TOOLS = 128
"""OpenAI and Azure reject requests with more tools than this: "Expected an array with maximum
length 128".
"""
OPENAI_HOSTS = ("api.openai.com", ".openai.azure.com", ".cognitiveservices.azure.com")


def capabilities_of(row: Deployment) -> ModelCapabilities:
    """Return the capabilities of a deployment. The operator's values come first, then values
    implied by DIAL's features and attachment types, then values known from the model's name.
    """
    own = ModelCapabilities(**{name: getattr(row, name) for name in CAPABILITIES})
    return own.over(written_capabilities(row)).over(known_capabilities(row))


def written_capabilities(row: Deployment) -> ModelCapabilities:
    """Return the capabilities that the deployment's features and attachment types imply."""
    return read_features(row.features).over(read_types(row.input_attachment_types))


def known_capabilities(row: Deployment) -> ModelCapabilities:
    """Return the capabilities that are known from the model's name. Nothing is known about an
    application that uses DIAL's protocol.
    """
    if row.kind != Deployment.Kind.CHAT or row.speaks_dial:
        return UNKNOWN
    if row.provider == Deployment.Provider.DEMO:
        return DEMO
    if row.provider not in SERVICES:
        return UNKNOWN
    name = row.model_name or row.deployment_id
    known = known_model(name)
    if known.context_window is None and row.context_window is None:
        return known.over(ModelCapabilities(context_window=listed_window(name, row.address)))
    return known


def tool_limit(row: Deployment) -> int | None:
    """Return the maximum number of tools in one request: the feature `max_tools`, or the limit of a
    known service.
    """
    written = row.features.get("max_tools")
    if type(written) is int and written > 0:
        return written
    host = urlsplit(row.address).hostname or ""
    return OPENAI_TOOLS if host.endswith(OPENAI_HOSTS) else None
