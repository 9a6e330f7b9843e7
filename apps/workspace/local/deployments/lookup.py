"""Finds deployments in our own database, and caches them briefly in the process."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from channels.db import database_sync_to_async

from apps import aged_cache, environment_variables
from apps.aged_cache import AgedCache
from apps.demo.model import SUPPORTED_PARAMETERS as DEMO_PARAMETERS
from apps.environment_variables import WrongVariable
from apps.errors import DeploymentNotFound, Unsupported
from apps.process_state import on_reset
from apps.workspace.anthropic.parameters import READ as ANTHROPIC_PARAMETERS
from apps.workspace.local.deployments.capabilities import capabilities_of, tool_limit
from apps.workspace.local.deployments.deployment import KEY_VARIABLE, Deployment
from apps.workspace.port import DeploymentInfo, DeploymentKind, McpEndpoint
from apps.workspace.responses.parameters import SUPPORTED as RESPONSES_PARAMETERS
from apps.workspace.services.static_tools import with_neutral_tools

logger = logging.getLogger(__name__)

DIAL_DEPLOYMENTS = "/openai/deployments/"
PICTURE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "size": {"type": "string", "description": "Width and height, such as 1024x1024"},
        "quality": {"type": "string", "description": "As the model names it, such as hd or low"},
    },
}
"""The default parameter schema, for image models that declare none."""
RowVersion = tuple[int, int]
"""The primary key and the version of a deployment's row. The key distinguishes the row from a later
row with the same name.
"""


@dataclass(frozen=True, slots=True)
class FoundDeployment:
    version: RowVersion
    info: DeploymentInfo
    provider: str
    base_url: str
    model_name: str
    api_key: str = field(default="", repr=False)
    api_key_env: str = ""
    takes_personal_keys: bool = False


_deployments = AgedCache[str, FoundDeployment]()
on_reset(_deployments.clear)


async def find_deployment(deployment_id: str) -> FoundDeployment:
    """Return an enabled deployment. The result may be outdated by up to `MAX_AGE_SECONDS`.

    Raises `DeploymentNotFound` if there is no such deployment.
    """
    found = await _deployments.renewed(
        deployment_id,
        aged_cache.MAX_AGE_SECONDS,
        lambda known: database_sync_to_async(look_up_deployment)(deployment_id, known),
    )
    if found is None:
        raise DeploymentNotFound(deployment_id)
    return found


def look_up_deployment(deployment_id: str, known: FoundDeployment | None) -> FoundDeployment | None:
    """Read a deployment from the database. Return `known` itself if it has not changed, or None if
    there is no such deployment.
    """
    enabled = Deployment.objects.filter(deployment_id=deployment_id, is_enabled=True)
    if known is not None and enabled.values_list("pk", "version").first() == known.version:
        return known
    row = enabled.first()
    return read_row(row) if row is not None else None


def enabled_deployment_ids() -> list[str]:
    enabled = Deployment.objects.filter(is_enabled=True)
    return list(enabled.values_list("deployment_id", flat=True))


def read_row(row: Deployment) -> FoundDeployment:
    can = capabilities_of(row)
    info = DeploymentInfo(
        id=row.deployment_id,
        display_name=row.display_name,
        description=row.description,
        features=features_of(row),
        reasoning_efforts=listed_efforts(row.features),
        input_attachment_types=tuple(row.input_attachment_types),
        context_window=can.context_window,
        defaults=default_parameters(row),
        # Services cannot fetch our files, so the request contains their bytes.
        files="data" if speaks_dial(row.features) else "none",
        configuration_schema=configuration_schema(row),
        kind=cast(DeploymentKind, row.kind),
        is_application=speaks_dial(row.features),
        supported_parameters=supported_parameters(row),
        tool_limit=tool_limit(row),
        fallbacks=tuple(row.fallbacks),
        can=can,
        text_tools=row.text_tools,
    )
    return FoundDeployment(
        version=(row.pk, row.version),
        info=info,
        provider=row.provider,
        base_url=row.address,
        model_name=row.model_name or row.deployment_id,
        api_key=str(row.api_key),
        api_key_env=row.api_key_env,
        takes_personal_keys=row.takes_personal_keys,
    )


def features_of(row: Deployment) -> Mapping[str, Any]:
    """Return the deployment's features, including the operator's limit of output tokens if there is
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


def speaks_dial(features: Mapping[str, Any]) -> bool:
    return features.get("dial") is True


def configuration_schema(row: Deployment) -> Mapping[str, Any]:
    schema = row.features.get("configuration_schema")
    if isinstance(schema, Mapping):
        return schema
    return PICTURE_SCHEMA if row.kind == Deployment.Kind.IMAGE else {}


def make_mcp_endpoint(deployment: FoundDeployment) -> McpEndpoint:
    """Return the MCP endpoint that DIAL provides for a toolset or an application. Raises
    `Unsupported` for any other deployment.
    """
    if not speaks_dial(deployment.info.features):
        raise Unsupported(
            f"The deployment {deployment.info.id!r} is not in DIAL Core, so it has no MCP "
            "server. Use a toolset of type 'mcp' with the server's URL."
        )
    address = deployment.base_url.partition("?")[0]
    root, found, name = address.rstrip("/").partition(DIAL_DEPLOYMENTS)
    key = deployment_key(deployment)
    return McpEndpoint(
        f"{root}/v1/toolset/{name if found else deployment.model_name}/mcp",
        {"Api-Key": key} if key else {},
        display_name=deployment.info.display_name,
        description=deployment.info.description,
    )


def deployment_key(deployment: FoundDeployment) -> str:
    """Return the key of a deployment: the stored key, otherwise the key from the environment
    variable `api_key_env` or from the file that its variant with `_FILE` names. Return "" if there
    is none.
    """
    name = deployment.api_key_env
    if deployment.api_key or not name:
        return deployment.api_key
    try:
        key = environment_variables.read_variable(name) if KEY_VARIABLE.fullmatch(name) else ""
    except WrongVariable as error:
        logger.warning("Deployment %s: %s", deployment.info.id, error)
        return ""
    if not key:
        logger.warning(
            "Deployment %s: the environment variable %s contains no key.", deployment.info.id, name
        )
    return key or ""
