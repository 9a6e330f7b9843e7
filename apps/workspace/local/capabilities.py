"""What the models of deployments can do: as their rows say, else as it is known by their names."""

from apps.workspace.known_models import known_model, listed_window
from apps.workspace.local.deployment import Deployment
from apps.workspace.model_capabilities import (
    CAPABILITIES,
    UNKNOWN,
    ModelCapabilities,
    read_features,
    read_types,
)

# Pictures and formats are nothing that it refuses: it says what it got, and that it sees nothing.
DEMO = ModelCapabilities(
    tools=True, parallel_tools=True, audio_output=False, reasoning=False, caching=False
)
SERVICES = frozenset(
    {Deployment.Provider.OPENAI, Deployment.Provider.ANTHROPIC, Deployment.Provider.RESPONSES}
)
"""Providers whose models have names."""


def capabilities_of(row: Deployment) -> ModelCapabilities:
    """The operator's word first, then DIAL's features and types, then what is known."""
    own = ModelCapabilities(**{name: getattr(row, name) for name in CAPABILITIES})
    return own.over(written_capabilities(row)).over(known_capabilities(row))


def written_capabilities(row: Deployment) -> ModelCapabilities:
    """Those that the features and the types of attachments tell."""
    return read_features(row.features).over(read_types(row.input_attachment_types))


def known_capabilities(row: Deployment) -> ModelCapabilities:
    """Without asking its service. Nothing is known of an application behind DIAL's protocol."""
    if row.kind != Deployment.Kind.CHAT or row.features.get("dial") is True:
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
