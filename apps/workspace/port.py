"""What a run stands on: everything outside of it, for one caller.

`LocalWorkspace` serves it from our own database and storage, `DialWorkspace` from DIAL Core. A
workspace that lacks something raises `Unsupported` with a sentence that names it; one whose service
cannot be asked raises `ServiceFailed`, from every method that does not say otherwise.
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
    `custom_fields.configuration`. An application is asked once, a model may be asked again:
    `is_application` where it may have tools that would work twice. `supported_parameters` are the
    request parameters that change its answer, None where that is not known.
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
    is_application: bool = False
    supported_parameters: frozenset[str] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class FileInfo:
    """`path` is `files/{bucket}/{name}`, each segment percent-encoded; `size` in bytes.

    The times are None where the storage does not say.
    """

    path: str
    content_type: str
    size: int
    etag: str
    updated_at: datetime | None
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class FolderInfo:
    """`path` is `files/{bucket}/{name}/`."""

    path: str


@dataclass(frozen=True, slots=True)
class FileContent:
    info: FileInfo
    content: bytes = field(repr=False)


class Files(Protocol):
    """Files of a workspace, named by their paths. What is not the caller's is as if missing.

    All raise `FileRefused`, with `FileMissing` and `FileChanged` for those two cases.
    """

    async def home(self) -> str:
        """The folder for what an application makes for its caller; it ends with a slash."""
        ...

    async def info(self, path: str) -> FileInfo: ...

    async def read(self, path: str, *, limit: int | None = None) -> FileContent:
        """Refuses more than `limit` bytes, None for the installation's limit."""
        ...

    async def keep(self, name: str, content: bytes, content_type: str) -> FileInfo:
        """Create or replace the file of that name (plain, not percent-encoded) at home."""
        ...

    async def write(
        self,
        path: str,
        content: bytes,
        content_type: str,
        *,
        etag: str | None = None,
        is_new: bool = False,
    ) -> FileInfo:
        """Create or replace. Raises `FileChanged` unless it is still `etag`, or still missing."""
        ...

    async def list(self, folder: str, *, is_deep: bool = False) -> Sequence[FileInfo | FolderInfo]:
        """What stands in a folder, by path: files and folders, or all files below it."""
        ...

    async def copy(self, source: str, destination: str, *, overwrite: bool = False) -> None:
        """Raises `FileChanged` when there is a destination that may not be overwritten."""
        ...

    async def move(self, source: str, destination: str, *, overwrite: bool = False) -> None:
        """Raises `FileChanged` when there is a destination that may not be overwritten."""
        ...

    async def delete(self, path: str) -> None: ...


@dataclass(frozen=True, slots=True)
class StoredSkill:
    """A skill that is kept as a folder. `text` is its SKILL.md, front matter included.

    `files` are the paths, relative to the skill, of the text files beside it that may be read;
    `problem` tells why there are none or not all of them, "" when nothing is missing.
    """

    text: str
    files: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class McpEndpoint:
    """Where a toolset or an application of the workspace speaks MCP, and how to be let in."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    protocol: Literal["streamable_http", "sse"] = "streamable_http"
    display_name: str | Mapping[str, str] = ""
    description: str | Mapping[str, str] = ""


SignIn = Literal["success", "denied", "error", "timeout", "unavailable"]
"""How asking the caller to sign in went; `unavailable`: there is nobody who could be asked."""


class Workspace(Protocol):
    """A deployment is a model, or an application that the caller may use."""

    def inside(self, application: str) -> Workspace:
        """The same for a run of that application, below which it may not stand again."""
        ...

    async def deployment(self, deployment_id: str) -> DeploymentInfo:
        """Raises `DeploymentNotFound`, `CallsItself`."""
        ...

    async def facts(self, deployment_id: str) -> DeploymentInfo:
        """What is needed to ask a deployment: features, limits, defaults. It may be as another caller
        of the application learned it: it proves no access, and its texts and the schema of its
        configuration may be missing. Raises as `deployment`."""
        ...

    async def assumed(self, deployment_id: str) -> DeploymentInfo:
        """What is known of a deployment without asking a service. Raises as `deployment`."""
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

    async def skill(self, path: str) -> StoredSkill:
        """A stored skill, `skills/{bucket}/{name}`. Raises `Unsupported`, `FileRefused`."""
        ...

    async def skill_file(self, path: str, file: str) -> str:
        """The text of one of the files of a skill. Raises `Unsupported`, `FileRefused`."""
        ...

    @property
    def files(self) -> Files: ...

    async def mcp_endpoint(self, deployment_id: str) -> McpEndpoint:
        """A toolset, or an application that has the feature `mcp`.

        Raises `DeploymentNotFound`, `Unsupported`.
        """
        ...

    async def sign_in(self, toolset_ids: Sequence[str]) -> Mapping[str, SignIn]:
        """Ask the person behind the call to sign in to all of these at once; how each went.

        Raises nothing.
        """
        ...

    async def sign_in_to_service(self, scope: str) -> SignIn:
        """The same for a service that an MCP server needs, named by the scope that it told.

        Raises nothing.
        """
        ...

    async def grant(self, paths: Sequence[str], receiver: str) -> None:
        """Let a deployment or toolset read files of the caller while this request lasts.

        Raises `FileRefused`.
        """
        ...
