"""The workspace of an application of our own that DIAL Core calls.

The operator wrote its manifest and knows both: the deployments of this installation, which come
first, and Core's. Files, prompts, toolsets and everything else of the caller are Core's.
"""

from __future__ import annotations

from collections.abc import Collection

from apps.agent.model import Model
from apps.errors import DeploymentNotFound
from apps.workspace.dial.workspace import DialWorkspace
from apps.workspace.local.deployments import find, make_model
from apps.workspace.port import DeploymentInfo


class InstalledFirst(DialWorkspace):
    """For manifests of operators alone: the services that it reaches are paid with their keys."""

    async def deployment(self, deployment_id: str) -> DeploymentInfo:
        """Raises `DeploymentNotFound`, `CallsItself`, `ServiceFailed`."""
        try:
            return (await find(deployment_id)).info
        except DeploymentNotFound:
            return await super().deployment(deployment_id)

    async def facts(self, deployment_id: str) -> DeploymentInfo:
        """Raises `DeploymentNotFound`, `CallsItself`, `ServiceFailed`."""
        try:
            return (await find(deployment_id)).info
        except DeploymentNotFound:
            return await super().facts(deployment_id)

    async def assumed(self, deployment_id: str) -> DeploymentInfo:
        """Raises `CallsItself`."""
        try:
            return (await find(deployment_id)).info
        except DeploymentNotFound:
            return await super().assumed(deployment_id)

    async def model(
        self,
        deployment_id: str,
        *,
        headers: Collection[str] | None = None,
        idle_seconds: float | None = None,
    ) -> Model:
        """Raises `DeploymentNotFound`, `CallsItself`."""
        try:
            return make_model(await find(deployment_id), idle_seconds)
        except DeploymentNotFound:
            return await super().model(deployment_id, headers=headers, idle_seconds=idle_seconds)
