"""The workspace without DIAL Core: deployments and files of our own database and storage."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from channels.db import database_sync_to_async
from django.conf import settings

from apps.accounts.caller import Caller
from apps.agent.model import Model
from apps.errors import DeploymentNotFound, FileRefused, Unsupported
from apps.workspace.embeddings.port import Embedder
from apps.workspace.local.attached import LocalCorpus
from apps.workspace.local.caller_files import LocalFiles
from apps.workspace.local.deployments import (
    enabled_deployment_ids,
    find_deployment,
    make_mcp_endpoint,
)
from apps.workspace.local.fallbacks import make_chain
from apps.workspace.local.personal_models import paid_model
from apps.workspace.local.providers import find_embedder
from apps.workspace.port import DeploymentInfo, KeyUse, McpEndpoint, SignIn, StoredSkill

if TYPE_CHECKING:
    from apps.workspace.memories.port import MemoryStore


@dataclass(frozen=True, slots=True)
class FoundApplication:
    """An application of our own, as a deployment."""

    info: DeploymentInfo
    model: Model


FindApplication = Callable[[str, "LocalWorkspace"], Awaitable[FoundApplication]]
"""By name, for a run with that workspace. Raises `DeploymentNotFound`, `CallsItself`."""
ListApplications = Callable[[Caller], Awaitable[Collection[str]]]
"""The names of the applications that the caller may use."""


async def list_no_applications(caller: Caller) -> Collection[str]:
    return ()


async def find_no_application(name: str, workspace: "LocalWorkspace") -> FoundApplication:
    raise DeploymentNotFound(name)


class LocalWorkspace:
    """Holds no database connection between two calls.

    `chain` are the applications around this run, the outermost first.
    """

    def __init__(
        self,
        caller: Caller,
        find_application: FindApplication = find_no_application,
        list_applications: ListApplications = list_no_applications,
    ) -> None:
        self.caller = caller
        self.find_application = find_application
        self.list_applications = list_applications
        self.chain: tuple[str, ...] = ()
        self.keys: KeyUse = "platform"

    def inside(self, application: str, keys: KeyUse = "platform") -> Self:
        return self.changed(chain=(*self.chain, application), keys=keys)

    def with_headers(self, names: Collection[str]) -> Self:
        """The same, but the caller has only headers of these names."""
        wanted = {name.lower() for name in names}
        kept = {n: value for n, value in self.caller.headers.items() if n.lower() in wanted}
        return self.changed(caller=replace(self.caller, headers=kept))

    def changed(self, **values: Any) -> Self:
        """A copy with other values; `copy.copy` takes five times as long."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **values)
        return other

    async def deployment(self, deployment_id: str) -> DeploymentInfo:
        """Raises `DeploymentNotFound`, `CallsItself`."""
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
        # Headers go to our own applications alone, which have time-outs of their own.
        try:
            found = await find_deployment(deployment_id)
        except DeploymentNotFound:
            narrowed = self if headers is None else self.with_headers(headers)
            return (await self.find_application(deployment_id, narrowed)).model
        user = self.caller.user_id if self.keys != "platform" else None
        make = partial(
            paid_model, files=self.files, idle_seconds=idle_seconds, user_id=user, use=self.keys
        )
        return await make_chain(found, make)

    async def embedder(self, deployment_id: str | None) -> Embedder:
        return await find_embedder(deployment_id)

    async def usable_deployments(self) -> frozenset[str]:
        enabled: list[str] = await database_sync_to_async(enabled_deployment_ids)()
        return frozenset((*enabled, *await self.list_applications(self.caller)))

    async def memories(self, *, is_shared: bool = False) -> "MemoryStore | None":
        if not self.chain:
            return None
        # Imported with the first use, because it needs NumPy.
        from apps.workspace.local.memories import find_memories

        find = database_sync_to_async(find_memories)
        found: MemoryStore | None = await find(self.caller, self.chain[-1], is_shared=is_shared)
        return found

    def corpus(self) -> LocalCorpus | None:
        has_any = self.chain and settings.CORPUS_DOCUMENTS
        return LocalCorpus(self.chain[-1], self.caller.bucket) if has_any else None

    async def prompt(self, path: str) -> str:
        """Raises `Unsupported`."""
        hint = "Write its text into the application as a custom prompt."
        raise Unsupported(f"{not_here('prompt', path)} {hint}")

    async def skill(self, path: str) -> StoredSkill:
        raise Unsupported(not_here("skill", path))

    async def skill_file(self, path: str, file: str) -> str:
        raise Unsupported(not_here("skill", path))

    @property
    def files(self) -> LocalFiles:
        return LocalFiles(self.caller.bucket, self.caller.folder)

    async def mcp_endpoint(self, deployment_id: str) -> McpEndpoint:
        """Of a deployment that is a service of DIAL's. Raises `Unsupported`."""
        try:
            return make_mcp_endpoint(await find_deployment(deployment_id))
        except DeploymentNotFound:
            raise Unsupported(
                f"The toolset {deployment_id!r} is kept in DIAL, which this installation does not "
                "use. Name the address of its MCP server in a toolset of type 'mcp'."
            ) from None

    async def sign_in(self, toolset_ids: Sequence[str]) -> Mapping[str, SignIn]:
        return dict.fromkeys(toolset_ids, "unavailable")

    async def sign_in_to_service(self, scope: str) -> SignIn:
        return "unavailable"

    async def grant(self, paths: Sequence[str], receiver: str) -> None:
        """Raises `FileRefused`."""
        raise FileRefused("Files cannot be shared with a server outside of this installation.")


def not_here(noun: str, path: str) -> str:
    return f"The {noun} {path!r} is stored in DIAL, which this installation does not use."
