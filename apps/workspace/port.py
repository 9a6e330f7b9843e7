"""What a run stands on: everything outside of it, for one caller.

`LocalWorkspace` serves it from our own database and storage. A workspace that lacks something
raises `Unsupported` with a sentence that names it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from apps.agent.model import Model


@dataclass(frozen=True, slots=True)
class DeploymentInfo:
    """What is known of a deployment before it is called.

    `features` are DIAL's flags (`tools`, `url_attachments`, …); `defaults` are request
    parameters that apply unless the request has its own. `reasoning_efforts` are those that it
    supports, () when nothing is known of them. `files` is how a file of the caller
    reaches it: by its path, only as bytes in the request, or not at all. The values that
    `configuration_schema` (a JSON Schema, {} for none) declares go into the request's
    `custom_fields.configuration`.
    """

    id: str
    display_name: str
    description: str = ""
    features: Mapping[str, bool] = field(default_factory=dict)
    reasoning_efforts: tuple[str, ...] = ()
    input_attachment_types: tuple[str, ...] = ()
    context_window: int | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    files: Literal["path", "data", "none"] = "path"
    configuration_schema: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileInfo:
    """`path` is `files/{bucket}/{name}`, each segment percent-encoded; `size` in bytes."""

    path: str
    content_type: str
    size: int
    etag: str
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class FileContent:
    info: FileInfo
    content: bytes = field(repr=False)


class Workspace(Protocol):
    """A deployment is a model, or an application that the caller may use."""

    def inside(self, application: str) -> Workspace:
        """The same for a run of that application, below which it may not stand again."""
        ...

    async def deployment(self, deployment_id: str) -> DeploymentInfo:
        """Raises `DeploymentNotFound`, `CallsItself`."""
        ...

    async def model(
        self,
        deployment_id: str,
        *,
        headers: Collection[str] | None = None,
        idle_seconds: float | None = None,
    ) -> Model:
        """The deployment, ready to be asked.

        `headers` are the names of those headers of the caller that go along, None for all; only
        DIAL and our own applications are given any. A service may be silent for `idle_seconds`,
        None for the installation's time-out of tools. Raises `DeploymentNotFound`, `CallsItself`.
        """
        ...

    async def usable_deployments(self) -> Collection[str] | None:
        """The ids of all deployments that the caller may use; None when that cannot be told."""
        ...

    async def prompt(self, path: str) -> str:
        """The text of a stored prompt. Raises `Unsupported`, `FileRefused`."""
        ...

    async def read_file(self, path: str) -> FileContent:
        """Raises `FileRefused` when it is missing or not the caller's."""
        ...

    async def write_file(self, name: str, content: bytes, content_type: str) -> FileInfo:
        """Create or replace a file of the caller. Raises `FileRefused` (size, name)."""
        ...

    async def list_files(self, prefix: str = "") -> Sequence[FileInfo]:
        """The caller's files whose name begins with `prefix`, by path."""
        ...

    async def delete_file(self, path: str) -> None:
        """Raises `FileRefused` when it is missing or not the caller's."""
        ...
