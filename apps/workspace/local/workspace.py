"""The workspace that needs no DIAL Core: models and files from our own database and storage."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace

from channels.db import database_sync_to_async

from apps.accounts.caller import Caller
from apps.agent.model import Model
from apps.errors import DeploymentNotFound, FileRefused, Unsupported
from apps.workspace.local import files
from apps.workspace.local.deployments import find, list_enabled, make_model
from apps.workspace.port import DeploymentInfo, FileContent, FileInfo


@dataclass(frozen=True, slots=True)
class FoundApplication:
    """An application of our own, as a deployment."""

    info: DeploymentInfo
    model: Model


FindApplication = Callable[[str, "LocalWorkspace"], Awaitable[FoundApplication]]
"""By name, for a run that stands on that workspace. Raises `DeploymentNotFound`, `CallsItself`."""


ListApplications = Callable[[Caller], Awaitable[Collection[str]]]
"""The names of those that the caller may use."""


async def list_no_applications(caller: Caller) -> Collection[str]:
    return ()


async def find_no_application(name: str, workspace: LocalWorkspace) -> FoundApplication:
    raise DeploymentNotFound(name)


class LocalWorkspace:
    """Everything for one caller. No database connection is held between two calls.

    `chain` are the applications that it is used inside of, the outermost first.
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

    def inside(self, application: str) -> LocalWorkspace:
        inner = copy.copy(self)
        inner.chain = (*self.chain, application)
        return inner

    def with_headers(self, names: Collection[str]) -> LocalWorkspace:
        """The same for a caller of whose headers there are only these."""
        wanted = {name.lower() for name in names}
        kept = {n: value for n, value in self.caller.headers.items() if n.lower() in wanted}
        narrowed = copy.copy(self)
        narrowed.caller = replace(self.caller, headers=kept)
        return narrowed

    async def deployment(self, deployment_id: str) -> DeploymentInfo:
        """Raises `DeploymentNotFound`, `CallsItself`."""
        try:
            return (await find(deployment_id)).info
        except DeploymentNotFound:
            return (await self.find_application(deployment_id, self)).info

    async def model(
        self,
        deployment_id: str,
        *,
        headers: Collection[str] | None = None,
        idle_seconds: float | None = None,
    ) -> Model:
        """Headers go to our own applications alone, which have time-outs of their own. Raises `DeploymentNotFound`, `CallsItself`."""
        try:
            return make_model(await find(deployment_id), idle_seconds)
        except DeploymentNotFound:
            narrowed = self if headers is None else self.with_headers(headers)
            return (await self.find_application(deployment_id, narrowed)).model

    async def usable_deployments(self) -> frozenset[str]:
        enabled: list[str] = await database_sync_to_async(list_enabled)()
        return frozenset((*enabled, *await self.list_applications(self.caller)))

    async def prompt(self, path: str) -> str:
        """Raises `Unsupported`."""
        raise Unsupported(
            f"The prompt {path!r} is stored in DIAL, which this installation does not use. "
            "Write its text into the application as a custom prompt."
        )

    async def read_file(self, path: str) -> FileContent:
        """Raises `FileRefused`."""
        found: FileContent = await database_sync_to_async(files.read)(self.caller.bucket, path)
        return found

    async def write_file(self, name: str, content: bytes, content_type: str) -> FileInfo:
        """Raises `FileRefused`."""
        bucket = self.caller.bucket
        if not bucket:
            raise FileRefused("Files need somebody who owns them; sign in first.")
        write = database_sync_to_async(files.write)
        written: FileInfo = await write(bucket, name, content, content_type)
        return written

    async def list_files(self, prefix: str = "") -> Sequence[FileInfo]:
        listing = database_sync_to_async(files.listing)
        found: Sequence[FileInfo] = await listing(self.caller.bucket, prefix)
        return found

    async def delete_file(self, path: str) -> None:
        """Raises `FileRefused`."""
        await database_sync_to_async(files.delete)(self.caller.bucket, path)
