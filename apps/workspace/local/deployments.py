"""Which models there are: rows, read once for each version and kept in the process."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings

from apps.aged_cache import AgedCache
from apps.agent.model import Model
from apps.demo.model import SUPPORTED_PARAMETERS as DEMO_PARAMETERS
from apps.demo.model import DemoModel
from apps.errors import DeploymentNotFound, Unsupported
from apps.workspace.local.models import KEY_VARIABLE, Deployment
from apps.workspace.openai.model import make_model as make_openai_model
from apps.workspace.port import DeploymentInfo, McpEndpoint

logger = logging.getLogger(__name__)

COMPLETIONS_OF = "/openai/deployments/"
"""What stands in front of a name in the address of a deployment of DIAL's."""

Version = tuple[int, int]
"""Id and version of a row: one that was deleted and made anew is another one."""


@dataclass(frozen=True, slots=True)
class FoundDeployment:
    version: Version
    info: DeploymentInfo
    provider: str
    base_url: str
    model_name: str
    api_key: str = field(default="", repr=False)
    api_key_env: str = ""


_kept = AgedCache[str, FoundDeployment]()


def forget() -> None:
    """Ask the database again for everything."""
    _kept.clear()


async def find(deployment_id: str) -> FoundDeployment:
    """An enabled deployment, no older than `CATALOG_MAX_AGE_SECONDS`.

    Raises `DeploymentNotFound`.
    """
    kept = _kept.get(deployment_id, settings.CATALOG_MAX_AGE_SECONDS)
    if kept is not None:
        return kept
    now, known = time.monotonic(), _kept.get(deployment_id)
    if known is not None:
        _kept.put(deployment_id, known, now)  # a burst asks the database once
    found: FoundDeployment | None = None
    try:
        found = await database_sync_to_async(look_up)(deployment_id, known)
    finally:
        if known is not None or found is not None:
            _kept.put(deployment_id, found, now)
    if found is None:
        raise DeploymentNotFound(deployment_id)
    return found


def look_up(deployment_id: str, known: FoundDeployment | None) -> FoundDeployment | None:
    """The row as it is now; `known` itself when it still is the newest."""
    if "\0" in deployment_id:  # PostgreSQL refuses to look for it
        return None
    enabled = Deployment.objects.filter(deployment_id=deployment_id, is_enabled=True)
    if known is not None and enabled.values_list("pk", "version").first() == known.version:
        return known
    row = enabled.first()
    return read_row(row) if row is not None else None


def list_enabled() -> list[str]:
    """The ids of all enabled deployments."""
    enabled = Deployment.objects.filter(is_enabled=True)
    return list(enabled.values_list("deployment_id", flat=True))


def read_row(row: Deployment) -> FoundDeployment:
    info = DeploymentInfo(
        id=row.deployment_id,
        display_name=row.display_name,
        description=row.description,
        features=row.features,
        input_attachment_types=tuple(row.input_attachment_types),
        context_window=row.context_window,
        defaults=row.parameters,
        # No file of ours can be fetched from outside, so its bytes have to travel.
        files="data" if speaks_dial(row) else "none",
        configuration_schema=configuration_schema(row),
        is_application=speaks_dial(row),
        supported_parameters=DEMO_PARAMETERS if row.provider == Deployment.Provider.DEMO else None,
    )
    return FoundDeployment(
        version=(row.pk, row.version),
        info=info,
        provider=row.provider,
        base_url=row.base_url,
        model_name=row.model_name or row.deployment_id,
        api_key=str(row.api_key),
        api_key_env=row.api_key_env,
    )


def speaks_dial(row: Deployment) -> bool:
    return row.features.get("dial") is True


def configuration_schema(row: Deployment) -> Mapping[str, Any]:
    schema = row.features.get("configuration_schema")
    return schema if isinstance(schema, Mapping) else {}


def make_model(deployment: FoundDeployment, idle_seconds: float | None = None) -> Model:
    if deployment.provider == Deployment.Provider.DEMO:
        return DemoModel()
    return make_openai_model(
        base_url=deployment.base_url,
        api_key=key_of(deployment),
        model=deployment.model_name,
        dial=deployment.info.features.get("dial") is True,
        idle_seconds=idle_seconds,
    )


def make_mcp_endpoint(deployment: FoundDeployment) -> McpEndpoint:
    """Where DIAL has the MCP server of a toolset or an application. Raises `Unsupported`."""
    if deployment.info.features.get("dial") is not True:
        raise Unsupported(
            f"The deployment {deployment.info.id!r} is no service of DIAL's, so no MCP server is "
            "known of it. Name the address of one in a toolset of type 'mcp'."
        )
    address = deployment.base_url.partition("?")[0]
    root, found, name = address.rstrip("/").partition(COMPLETIONS_OF)
    key = key_of(deployment)
    return McpEndpoint(
        f"{root}/v1/toolset/{name if found else deployment.model_name}/mcp",
        {"Api-Key": key} if key else {},
        display_name=deployment.info.display_name,
        description=deployment.info.description,
    )


def key_of(deployment: FoundDeployment) -> str:
    """The stored key, else the one in the environment; "" for a service that needs none."""
    name = deployment.api_key_env
    if deployment.api_key or not name:
        return deployment.api_key
    key = os.environ.get(name, "").strip() if KEY_VARIABLE.fullmatch(name) else ""
    if not key:
        logger.warning("Deployment %s: %s holds no key.", deployment.info.id, name)
    return key
