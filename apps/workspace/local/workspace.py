"""Implements the workspace for installations without DIAL Core. It uses this installation's own
deployments, database and storage.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from channels.db import database_sync_to_async
from django.conf import settings
from django.db.models import QuerySet

from apps.accounts.caller import Caller
from apps.agent.model import Model
from apps.errors import DeploymentNotFound, FileRefused, Unsupported
from apps.workspace.embeddings.port import Embedder
from apps.workspace.local.corpora.attached import LocalCorpus
from apps.workspace.local.deployments.fallbacks import make_chain
from apps.workspace.local.deployments.found_deployments import (
    enabled_deployment_ids,
    find_deployment,
    find_embedder,
    make_mcp_endpoint,
)
from apps.workspace.local.files.caller_files import LocalFiles
from apps.workspace.local.files.readers import Ids
from apps.workspace.local.memories.memories import find_memories
from apps.workspace.memories.port import MemoryStore
from apps.workspace.port import DeploymentInfo, KeyUse, McpEndpoint, SignIn, StoredSkill


@dataclass(frozen=True, slots=True)
class FoundApplication:
    """An application of this installation that is called as a deployment."""

    info: DeploymentInfo
    model: Model


FindApplication = Callable[[str, "LocalWorkspace"], Awaitable[FoundApplication]]
"""A function that finds an application by name, for a run in the given workspace. It raises
`DeploymentNotFound` if the caller cannot use the application, and `CallsItself` if it is already in
the chain of callers.
"""
ListApplications = Callable[[Caller], Awaitable[Collection[str]]]
"""A function that returns the names of the applications that the caller may use."""
ListFiles = Callable[[Caller, Sequence[str]], Collection[int] | QuerySet[Any, Any]]
"""A function that returns the IDs of the applications' files that the caller may read in a run of
these applications.
"""


async def list_no_applications(caller: Caller) -> Collection[str]:
    return ()


def list_no_files(caller: Caller, applications: Sequence[str]) -> Collection[int]:
    return ()


async def find_no_application(name: str, workspace: "LocalWorkspace") -> FoundApplication:
    raise DeploymentNotFound(name)


class LocalWorkspace:
    """Implements the workspace for installations without DIAL Core. No database connection is held
    between calls.
    """

    def __init__(
        self,
        caller: Caller,
        find_application: FindApplication = find_no_application,
        list_applications: ListApplications = list_no_applications,
        list_files: ListFiles = list_no_files,
    ) -> None:
        self.caller = caller
        self.find_application = find_application
        self.list_applications = list_applications
        self.list_files = list_files
        self.chain: tuple[str, ...] = ()
        """The applications whose calls led to this run, outermost first."""
        self.keys: KeyUse = "platform"

    def inside(self, application: str, keys: KeyUse = "platform") -> Self:
        return self.changed(chain=(*self.chain, application), keys=keys)

    def with_headers(self, names: Collection[str]) -> Self:
        """Return a copy of the workspace whose caller has only the headers with these names."""
        wanted = {name.lower() for name in names}
        kept = {n: value for n, value in self.caller.client.headers.items() if n.lower() in wanted}
        return self.changed(caller=self.caller.at(headers=kept))

    def changed(self, **values: Any) -> Self:
        """Return a copy of the workspace with these attributes changed. `copy.copy` would be five
        times slower.
        """
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **values)
        return other

    async def deployment(self, deployment_id: str) -> DeploymentInfo:
        """Return the description of a deployment. Raises `DeploymentNotFound` if the caller cannot
        use the deployment, and `CallsItself` if it is in the chain of callers.
        """
        try:
            return (await find_deployment(deployment_id)).info
        except DeploymentNotFound:
            return (await self.find_application(deployment_id, self)).info

    async def facts(self, deployment_id: str) -> DeploymentInfo:
        return await self.deployment(deployment_id)

    async def assumed(self, deployment_id: str) -> DeploymentInfo:
        return await self.deployment(deployment_id)

    async def model(
        self,
        deployment_id: str,
        *,
        headers: Collection[str] | None = None,
        idle_seconds: float | None = None,
    ) -> Model:
        # Headers are sent only to our own applications, which have their own timeouts.
        try:
            found = await find_deployment(deployment_id)
        except DeploymentNotFound:
            narrowed = self if headers is None else self.with_headers(headers)
            return (await self.find_application(deployment_id, narrowed)).model
        user = self.caller.user_id if self.keys != "platform" else None
        return await make_chain(
            found, files=self.files, idle_seconds=idle_seconds, user_id=user, use=self.keys
        )

    async def embedder(self, deployment_id: str | None) -> Embedder:
        return await find_embedder(deployment_id)

    async def usable_deployments(self) -> frozenset[str]:
        enabled: list[str] = await database_sync_to_async(enabled_deployment_ids)()
        return frozenset((*enabled, *await self.list_applications(self.caller)))

    async def memories(self, *, is_shared: bool = False) -> MemoryStore | None:
        if not self.chain:
            return None
        find = database_sync_to_async(find_memories)
        found: MemoryStore | None = await find(self.caller, self.chain[-1], is_shared=is_shared)
        return found

    def corpus(self) -> LocalCorpus | None:
        has_any = self.chain and settings.CORPUS_CHUNKS
        return LocalCorpus(self.chain[-1], self.caller.bucket) if has_any else None

    async def prompt(self, path: str) -> str:
        """Raise `Unsupported`, because only DIAL Core stores prompts."""
        hint = "Write its text into the application as a custom prompt."
        raise Unsupported(f"{not_here('prompt', path)} {hint}")

    async def skill(self, path: str) -> StoredSkill:
        raise Unsupported(not_here("skill", path))

    async def skill_file(self, path: str, file: str) -> str:
        raise Unsupported(not_here("skill", path))

    @property
    def files(self) -> LocalFiles:
        found: Ids = partial(self.list_files, self.caller, self.chain)
        return LocalFiles(self.caller.bucket, self.caller.folder, found)

    async def mcp_endpoint(self, deployment_id: str) -> McpEndpoint:
        """Return the MCP endpoint of a deployment at a DIAL service. Raises `Unsupported` for any
        other deployment.
        """
        try:
            return make_mcp_endpoint(await find_deployment(deployment_id))
        except DeploymentNotFound:
            raise Unsupported(
                f"The toolset {deployment_id!r} is in DIAL Core, which this installation does "
                "not use. Use a toolset of type 'mcp' with the URL of its MCP server."
            ) from None

    async def sign_in(self, toolset_ids: Sequence[str]) -> Mapping[str, SignIn]:
        return dict.fromkeys(toolset_ids, "unavailable")

    async def sign_in_to_service(self, scope: str) -> SignIn:
        return "unavailable"

    async def grant(self, paths: Sequence[str], receiver: str) -> None:
        """Raise `FileRefused`, because servers outside this installation cannot read its files."""
        raise FileRefused("Files cannot be shared with a server outside of this installation.")


def not_here(noun: str, path: str) -> str:
    return f"The {noun} {path!r} is stored in DIAL, which this installation does not use."
