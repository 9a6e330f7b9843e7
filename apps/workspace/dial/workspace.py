"""Implements the workspace of a DIAL Core caller. All calls to Core use the caller's own key."""

import copy
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Self

from django.conf import settings

from apps.accounts.caller import Caller
from apps.agent.model import Model
from apps.errors import ServiceFailed
from apps.workspace.dial import channel
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import Core, path_segment
from apps.workspace.dial.files import DialFileStore
from apps.workspace.dial.headers import check_chain, forwarded_headers, write_chain
from apps.workspace.dial.memories import DialMemories, memories_at
from apps.workspace.dial.metadata import find_endpoint, find_facts, find_info, reported_capabilities
from apps.workspace.dial.models import DialCompletions, DialEmbeddings
from apps.workspace.dial.resources import grant_reading, read_prompt
from apps.workspace.dial.skills import Skills
from apps.workspace.embeddings.built_in import BuiltInEmbedder
from apps.workspace.embeddings.port import Embedder
from apps.workspace.embeddings.service import ServiceEmbedder
from apps.workspace.fitted_model import fit_model
from apps.workspace.openai.model import completions_api
from apps.workspace.port import DeploymentInfo, KeyUse, McpEndpoint, SignIn, StoredSkill
from apps.workspace.services.model import ServiceModel

logger = logging.getLogger(__name__)

DEPLOYMENT_TYPES = {"type": "model,application,toolset"}

FindInfo = Callable[[Calls, str], Awaitable[DeploymentInfo]]
"""A function that returns the description of a deployment. It raises `DeploymentNotFound` if the
deployment does not exist, and `ServiceFailed` if Core does not respond.
"""


class DialWorkspace:
    """The workspace for one request. It is not reused, because Core's keys are valid for only one
    request.

    Every method raises `ServiceFailed` if a call to Core fails.
    """

    def __init__(self, caller: Caller, core: Core) -> None:
        self.caller = caller
        self.core = core
        self.calls = Calls(core, caller)
        self.skills = Skills(self.calls)
        self.chain = caller.client.chain
        """The applications whose calls led to this run, outermost first."""

    def inside(self, application: str, keys: KeyUse = "platform") -> Self:
        # The calls are charged to the request's key, never to one of the installation's keys.
        inner = copy.copy(self)
        inner.chain = (*self.chain, application)
        return inner

    async def deployment(self, deployment_id: str) -> DeploymentInfo:
        return await self.described(deployment_id, find_info)

    async def facts(self, deployment_id: str) -> DeploymentInfo:
        return await self.described(deployment_id, find_facts)

    async def assumed(self, deployment_id: str) -> DeploymentInfo:
        return await self.described(deployment_id, assume)

    async def described(self, deployment_id: str, find: FindInfo) -> DeploymentInfo:
        """Return the description from `find`. Raises `CallsItself` if the deployment is in the
        chain of callers, and the errors of `find`.
        """
        check_chain(self.chain, deployment_id)
        return await find(self.calls, deployment_id)

    async def model(
        self,
        deployment_id: str,
        *,
        headers: Collection[str] | None = None,
        idle_seconds: float | None = None,
    ) -> Model:
        """Return a model without a request to Core. The model has the capabilities that Core
        reported earlier.

        Raises `DeploymentNotFound` for an invalid ID, and `CallsItself` if the deployment is in the
        chain of callers.
        """
        check_chain(self.chain, deployment_id)
        completions = DialCompletions(
            self.core,
            path_segment(deployment_id),
            {**forwarded_headers(self.caller, headers), **write_chain(self.chain)},
            self.caller,
        )
        model = ServiceModel(
            completions,
            deployment_id,
            completions_api(deployment_id, self.core.url, dial=True),
            idle_seconds or settings.DEFAULT_TOOL_TIMEOUT_SECONDS,
        )
        can = reported_capabilities(self.calls, deployment_id)
        return fit_model(model, deployment_id, can)

    async def embedder(self, deployment_id: str | None) -> Embedder:
        """Return an embedder without a request to Core. Raises the same errors as `model`."""
        wanted = deployment_id or settings.EMBEDDINGS_DEPLOYMENT
        if not wanted:
            return BuiltInEmbedder()
        check_chain(self.chain, wanted)
        headers = {**forwarded_headers(self.caller), **write_chain(self.chain)}
        service = DialEmbeddings(self.calls, path_segment(wanted), headers)
        return ServiceEmbedder(service, wanted)

    async def usable_deployments(self) -> frozenset[str] | None:
        try:
            listed = await self.calls.get_json("/v1/deployment-names", DEPLOYMENT_TYPES)
        except ServiceFailed as failure:
            logger.warning("Failed to fetch the list of usable deployments: %s", failure)
            return None
        names = read_names(listed)
        if names is None:
            logger.warning("Failed to read DIAL Core's list of deployments.")
        return names

    async def memories(self, *, is_shared: bool = False) -> DialMemories:
        # An application can write only to its own folder, so memories are not shared between
        # applications.
        return memories_at(self.calls, await self.files.home())

    def corpus(self) -> None:
        return None  # Core stores the files, and they can be read only with a caller's key.

    async def prompt(self, path: str) -> str:
        """Return the text of a prompt. Raises `FileRefused` if the caller cannot read it."""
        return await read_prompt(self.calls, path)

    async def skill(self, path: str) -> StoredSkill:
        """Return a skill. Raises `FileRefused` if the caller cannot read it."""
        return await self.skills.skill(path)

    async def skill_file(self, path: str, file: str) -> str:
        """Return the text of a file in a skill. Raises `FileRefused` if the caller cannot read
        it.
        """
        return await self.skills.skill_file(path, file)

    @property
    def files(self) -> DialFileStore:
        return DialFileStore(self.calls)

    async def mcp_endpoint(self, deployment_id: str) -> McpEndpoint:
        """Return the MCP server of a toolset or an application.

        Raises `DeploymentNotFound` if the caller cannot use it, `CallsItself` if it is in the chain
        of callers, and `Unsupported` if it has no MCP server.
        """
        check_chain(self.chain, deployment_id)
        return await find_endpoint(self.calls, deployment_id)

    async def sign_in(self, toolset_ids: Sequence[str]) -> Mapping[str, SignIn]:
        return await channel.sign_in(self.calls, toolset_ids)

    async def sign_in_to_service(self, scope: str) -> SignIn:
        return await channel.sign_in_to_service(self.calls, scope)

    async def grant(self, paths: Sequence[str], receiver: str) -> None:
        """Allow `receiver` to read the files until this request ends. Raises `FileRefused` if Core
        rejects the grant.
        """
        await grant_reading(self.calls, paths, receiver)


async def assume(calls: Calls, deployment_id: str) -> DeploymentInfo:
    return DeploymentInfo(deployment_id, deployment_id)


def read_names(listed: Any) -> frozenset[str] | None:
    """Return the IDs in Core's response, or None if the response is not a list of IDs."""
    if not isinstance(listed, list):
        return None
    names = [item.get("id") if isinstance(item, Mapping) else item for item in listed]
    texts = [name for name in names if isinstance(name, str)]
    return frozenset(texts) if len(texts) == len(names) else None
