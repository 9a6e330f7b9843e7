"""Describes the deployments in our own database: their capabilities, defaults and parameters."""

from collections.abc import Mapping
from typing import Any, cast

from apps.demo.model import SUPPORTED_PARAMETERS as DEMO_PARAMETERS
from apps.workspace.anthropic.parameters import READ as ANTHROPIC_PARAMETERS
from apps.workspace.local.deployments.capabilities import capabilities_of, tool_limit
from apps.workspace.local.deployments.deployment import Deployment
from apps.workspace.port import DeploymentInfo, DeploymentKind
from apps.workspace.responses.parameters import SUPPORTED as RESPONSES_PARAMETERS
from apps.workspace.services.static_tools import listed_tools, with_neutral_tools

PICTURE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "size": {"type": "string", "description": "Width and height, such as 1024x1024"},
        "quality": {"type": "string", "description": "As the model names it, such as hd or low"},
    },
}
"""The default parameter schema, for image models that declare none."""


def describe_row(row: Deployment) -> DeploymentInfo:
    can = capabilities_of(row)
    defaults = default_parameters(row)
    return DeploymentInfo(
        id=row.deployment_id,
        display_name=row.display_name,
        description=row.description,
        features=features_of(row),
        reasoning_efforts=listed_efforts(row.features),
        input_attachment_types=tuple(row.input_attachment_types),
        context_window=can.context_window,
        defaults=defaults,
        static_tools=listed_tools(defaults, row.deployment_id),
        # Services cannot fetch our files, so the request contains their bytes.
        files="data" if row.speaks_dial else "none",
        configuration_schema=configuration_schema(row),
        kind=cast(DeploymentKind, row.kind),
        is_application=row.speaks_dial,
        supported_parameters=supported_parameters(row),
        tool_limit=tool_limit(row),
        fallbacks=tuple(row.fallbacks),
        can=can,
        text_tools=row.text_tools,
    )


def features_of(row: Deployment) -> Mapping[str, Any]:
    """Return the deployment's features, including the operator's limit on output tokens if there is
    one.
    """
    features: Mapping[str, Any] = row.features
    if row.max_output_tokens is None:
        return features
    return {**features, "max_output_tokens": row.max_output_tokens}


def listed_efforts(features: Mapping[str, Any]) -> tuple[str, ...]:
    listed = features.get("reasoning_efforts")
    return tuple(map(str, listed)) if isinstance(listed, list) else ()


def default_parameters(row: Deployment) -> Mapping[str, Any]:
    parameters: Mapping[str, Any] = row.parameters
    return with_neutral_tools(parameters) if row.provider in WITH_TOOLS else parameters


WITH_TOOLS = frozenset({Deployment.Provider.ANTHROPIC, Deployment.Provider.RESPONSES})
"""The providers whose services offer built-in tools."""


def supported_parameters(row: Deployment) -> frozenset[str] | None:
    """Return the request parameters that have an effect, or None if they are unknown."""
    if row.kind != Deployment.Kind.CHAT:
        return None
    return SUPPORTED_PARAMETERS.get(row.provider)


SUPPORTED_PARAMETERS: Mapping[str, frozenset[str]] = {
    Deployment.Provider.ANTHROPIC: ANTHROPIC_PARAMETERS,
    Deployment.Provider.DEMO: DEMO_PARAMETERS,
    Deployment.Provider.RESPONSES: RESPONSES_PARAMETERS,
}


def configuration_schema(row: Deployment) -> Mapping[str, Any]:
    schema = row.features.get("configuration_schema")
    if isinstance(schema, Mapping):
        return schema
    return PICTURE_SCHEMA if row.kind == Deployment.Kind.IMAGE else {}
