"""Omits tools for deployments that the caller may not use, if the application enables this.

This only avoids calls that would fail. It is not a security boundary, because DIAL Core checks each
call. If the usable deployments are unknown, no tool is omitted.
"""

import logging
from functools import partial
from urllib.parse import unquote

from apps.capabilities.registry import Key, Opening
from apps.errors import QuickAppError
from apps.manifest.manifest import Manifest
from apps.workspace.port import Workspace

logger = logging.getLogger(__name__)

USABLE_IDS = Key[frozenset[str] | None]("usable_deployments")


async def usable_ids(manifest: Manifest, opening: Opening) -> frozenset[str] | None:
    """Return the decoded IDs of the deployments that the caller may use, or None for all."""
    wanted = manifest.features.tool_access_filter if manifest.features is not None else None
    if wanted is None or not wanted.enabled:
        return None
    return await opening.findings.get_or_ask(USABLE_IDS, partial(ask, opening.workspace))


async def ask(workspace: Workspace) -> frozenset[str] | None:
    try:
        found = await workspace.usable_deployments()
    except QuickAppError as error:
        logger.warning("Failed to fetch the list of usable deployments: %s", error)
        return None
    return None if found is None else frozenset(map(unquote, found))


def is_usable_deployment(deployment_id: str, usable: frozenset[str] | None) -> bool:
    return usable is None or unquote(deployment_id) in usable
