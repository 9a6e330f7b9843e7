"""The workspace that needs no DIAL Core: models and files from our own database and storage."""

from __future__ import annotations

from collections.abc import Sequence

from channels.db import database_sync_to_async

from apps.accounts.caller import Caller
from apps.agent.model import Model
from apps.errors import FileRefused, Unsupported
from apps.workspace.local import files
from apps.workspace.local.deployments import find, make_model
from apps.workspace.port import DeploymentInfo, FileContent, FileInfo


class LocalWorkspace:
    """Everything for one caller. No database connection is held between two calls."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    async def deployment(self, deployment_id: str) -> DeploymentInfo:
        """Raises `DeploymentNotFound`."""
        return (await find(deployment_id)).info

    async def model(self, deployment_id: str) -> Model:
        """Raises `DeploymentNotFound`."""
        return make_model(await find(deployment_id))

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
