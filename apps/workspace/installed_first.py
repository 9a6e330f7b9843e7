"""Defines the workspace of applications that an operator has defined and that DIAL Core calls.

Deployments of this installation take precedence over Core's deployments. All other resources belong
to the caller's workspace at Core.
"""

from collections.abc import Collection
from functools import partial

from django.conf import settings

from apps.agent.model import Model
from apps.errors import DeploymentNotFound
from apps.workspace.dial.workspace import DialWorkspace, FindInfo
from apps.workspace.embeddings.port import Embedder
from apps.workspace.local.deployments.fallbacks import make_chain
from apps.workspace.local.deployments.lookup import find_deployment
from apps.workspace.local.deployments.personal_keys import paid_model
from apps.workspace.local.deployments.providers import make_embedder
from apps.workspace.port import DeploymentInfo


class InstalledFirst(DialWorkspace):
    """The workspace of applications whose manifests operators wrote. Only these applications may
    use the installation's deployments, which the operators' API keys pay for.
    """

    async def described(self, deployment_id: str, find: FindInfo) -> DeploymentInfo:
        try:
            return (await find_deployment(deployment_id)).info
        except DeploymentNotFound:
            return await super().described(deployment_id, find)

    async def model(
        self,
        deployment_id: str,
        *,
        headers: Collection[str] | None = None,
        idle_seconds: float | None = None,
    ) -> Model:
        """Return the deployment as a model. Raises `DeploymentNotFound` if the caller cannot use
        the deployment, and `CallsItself` if it is in the chain of callers.
        """
        try:
            found = await find_deployment(deployment_id)
        except DeploymentNotFound:
            return await super().model(deployment_id, headers=headers, idle_seconds=idle_seconds)
        make = partial(paid_model, files=self.files, idle_seconds=idle_seconds)
        return await make_chain(found, make)

    async def embedder(self, deployment_id: str | None) -> Embedder:
        wanted = deployment_id or settings.EMBEDDINGS_DEPLOYMENT
        try:
            found = await find_deployment(wanted)
        except DeploymentNotFound:
            return await super().embedder(wanted)
        return make_embedder(found)
