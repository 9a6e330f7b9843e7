"""The workspace of a run: models, files, prompts, skills and toolsets, for one caller.

`LocalWorkspace` serves them from our own database and storage, `DialWorkspace` from DIAL Core.
Methods raise `Unsupported` for features that a workspace lacks and, unless they say otherwise,
`ServiceFailed` when its service cannot be asked.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from apps.agent.model import Model
from apps.workspace.corpora import CorpusReader
from apps.workspace.embeddings.port import Embedder
from apps.workspace.media_types import matches
from apps.workspace.model_capabilities import UNKNOWN, ModelCapabilities
from apps.workspace.stored_files import Files

if TYPE_CHECKING:  # it imports NumPy, which costs every process memory and which few need
    from apps.workspace.memories.port import MemoryStore

KeyUse = Literal["platform", "person", "person_first"]
"""Whose keys services are asked with: the installation's; the caller's, if they have one; or, where
the service refuses that one, the installation's."""
DeploymentKind = Literal["chat", "embedding", "image"]


@dataclass(frozen=True, slots=True)
class DeploymentInfo:
    """Description of a deployment.

    - `features`: DIAL's flags (`tools`, `url_attachments`, …).
    - `reasoning_efforts`: the supported ones, () when unknown.
    - `can`: what a model can do; unknown of an application. `context_window` is its own.
    - `text_tools`: a model without tools calls them in its text, instead of being asked without.
    - `defaults`: request parameters that apply unless the request has its own.
    - `files`: a file of the caller is sent by its path, only as bytes, or not at all.
    - `configuration_schema`: JSON Schema of the request's `custom_fields.configuration`, {} for none.
    - `kind`: an image model answers with pictures; an embedding model is asked for no completion.
    - `is_application`: never asked twice, because its tools might do their work twice.
    - `is_recorded`: an application here, whose steps are recorded with those of the run that asks it.
    - `supported_parameters`: request parameters that change its answer, None when unknown.
    - `fallbacks`: ids of the deployments that answer, in this order, while it cannot.
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
    kind: DeploymentKind = "chat"
    is_application: bool = False
    is_recorded: bool = False
    supported_parameters: frozenset[str] | None = field(default=None, compare=False)
    fallbacks: tuple[str, ...] = ()
    can: ModelCapabilities = field(default=UNKNOWN, compare=False)
    text_tools: bool = True

    @property
    def max_output_tokens(self) -> int | None:
        return self.can.max_output_tokens

    def reads(self, media_type: str) -> bool | None:
        """Whether attachments of a type are sent to it; None when unknown."""
        if self.input_attachment_types:
            return matches(media_type, self.input_attachment_types)
        return self.can.reads(media_type)


@dataclass(frozen=True, slots=True)
class StoredSkill:
    """A skill stored as a folder. `text` is its SKILL.md, front matter included.

    `files` are the readable text files beside it, by relative path; `problem` says why files are
    missing from the list, "" for none.
    """

    text: str
    files: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class McpEndpoint:
    """The MCP server of a toolset or an application, with the headers that give access."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    protocol: Literal["streamable_http", "sse"] = "streamable_http"
    display_name: str | Mapping[str, str] = ""
    description: str | Mapping[str, str] = ""


SignIn = Literal["success", "denied", "error", "timeout", "unavailable"]
"""Outcome of a request to sign in; `unavailable`: there is nobody to ask."""


class Workspace(Protocol):
    """A deployment is a model, or an application that the caller may use."""

    def inside(self, application: str, keys: KeyUse = "platform") -> "Workspace":
        """The workspace for a run of that application, which may not be called again inside it."""
        ...

    async def deployment(self, deployment_id: str) -> DeploymentInfo:
        """Raises `DeploymentNotFound`, `CallsItself`."""
        ...

    async def facts(self, deployment_id: str) -> DeploymentInfo:
        """The technical facts needed to ask a deployment: features, limits, defaults.

        They may come from another caller's request, so they prove no access; texts and the
        configuration schema may be missing. Raises as `deployment`.
        """
        ...

    async def assumed(self, deployment_id: str) -> DeploymentInfo:
        """Facts of a deployment that are known without asking a service. Raises as `deployment`."""
        ...

    async def model(
        self,
        deployment_id: str,
        *,
        headers: Collection[str] | None = None,
        idle_seconds: float | None = None,
    ) -> Model:
        """The deployment, ready to be asked.

        `headers` names the caller's headers that are forwarded to DIAL and our own applications,
        None for all. `idle_seconds` limits the silence of the service, None for the time-out of
        tools. Raises `DeploymentNotFound`, `CallsItself`.
        """
        ...

    async def embedder(self, deployment_id: str | None) -> Embedder:
        """A deployment that embeds texts; None for the installation's default.

        Raises `DeploymentNotFound`, also for a deployment of another kind.
        """
        ...

    async def usable_deployments(self) -> Collection[str] | None:
        """The ids of all deployments that the caller may use; None when unknown."""
        ...

    async def memories(self, *, is_shared: bool = False) -> "MemoryStore | None":
        """What the application of this run remembers of its caller; None for one of whom nothing is.

        `is_shared`: what all applications that share their memories remember, if the caller agreed.
        """
        ...

    def corpus(self) -> CorpusReader | None:
        """What is attached to the application of this run; None where nothing of it is stored."""
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
        """Ask the person to sign in to all of these at once; outcome by id. Raises nothing."""
        ...

    async def sign_in_to_service(self, scope: str) -> SignIn:
        """Ask the person to sign in to a service that an MCP server needs. Raises nothing."""
        ...

    async def grant(self, paths: Sequence[str], receiver: str) -> None:
        """Let a deployment or toolset read files during this request. Raises `FileRefused`."""
        ...
