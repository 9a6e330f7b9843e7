"""Defines the workspace of a run: models, files, prompts, skills and toolsets, for one caller.

`LocalWorkspace` provides them from our own database and storage, `DialWorkspace` from DIAL Core.
Methods raise `Unsupported` for features that a workspace does not have and, unless documented
otherwise, `ServiceFailed` if a call to its service fails.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from apps.agent.model import Model
from apps.workspace.corpora import CorpusReader
from apps.workspace.embeddings.port import Embedder
from apps.workspace.media_types import matches_any
from apps.workspace.model_capabilities import UNKNOWN, ModelCapabilities
from apps.workspace.stored_files import Files

if TYPE_CHECKING:  # The module imports NumPy, which takes up memory, and few processes need it.
    from apps.workspace.memories.port import MemoryStore

KeyUse = Literal["platform", "person", "person_first"]
"""The API keys that calls to models use: the installation's (`platform`), the caller's (`person`),
or the caller's with the installation's as a fallback (`person_first`).
"""
DeploymentKind = Literal["chat", "embedding", "image"]


@dataclass(frozen=True, slots=True)
class DeploymentInfo:
    """A deployment: a model, or an application that is called like a model."""

    id: str
    display_name: str
    description: str = ""
    features: Mapping[str, bool] = field(default_factory=dict)
    """DIAL's flags (`tools`, `url_attachments`, …)."""
    reasoning_efforts: tuple[str, ...] = ()
    """The supported values of `reasoning_effort`, or () if they are unknown."""
    input_attachment_types: tuple[str, ...] = ()
    context_window: int | None = None  # in tokens; None if unknown
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Request parameters that apply unless the request sets them."""
    static_tools: tuple[Mapping[str, Any], ...] = ()
    """The tools that the deployment's service executes."""
    files: Literal["path", "data", "none"] = "path"
    """The form in which the caller's files are sent: by path, as bytes, or not at all."""
    configuration_schema: Mapping[str, Any] = field(default_factory=dict)
    """The JSON Schema of the request's `custom_fields.configuration`, or {}."""
    kind: DeploymentKind = "chat"
    """Image models answer with images. Embedding models do not receive completion requests."""
    is_application: bool = False
    """True for an application. Requests to it are never retried, because its tools might run twice.
    """
    is_recorded: bool = False
    """True for an application of this installation, whose steps are recorded with the steps of the
    calling run.
    """
    supported_parameters: frozenset[str] | None = field(default=None, compare=False)
    """The request parameters that have an effect, or None if they are unknown."""
    tool_limit: int | None = field(default=None, compare=False)
    """The maximum number of tools in a request, or None if it is unknown."""
    fallbacks: tuple[str, ...] = ()
    """The IDs of the deployments that are called instead, in order, while this one is unavailable.
    """
    can: ModelCapabilities = field(default=UNKNOWN, compare=False)
    """The capabilities of a model. They are unknown for an application."""
    text_tools: bool = True
    """True if a model without tool support writes its tool calls as text, False if it receives no
    tools.
    """

    def reads(self, media_type: str) -> bool | None:
        """Return True if attachments of this type can be sent to the deployment, False if they
        cannot, and None if this is unknown.
        """
        if self.input_attachment_types:
            return matches_any(media_type, self.input_attachment_types)
        return self.can.reads(media_type)


@dataclass(frozen=True, slots=True)
class StoredSkill:
    """A skill that is stored as a folder."""

    text: str
    """The content of SKILL.md, including the front matter."""
    files: tuple[str, ...] = ()
    """The paths of readable text files, relative to the folder."""
    problem: str = ""
    """The reason why files are missing from `files`, or ""."""


@dataclass(frozen=True, slots=True)
class McpEndpoint:
    """The MCP server of a toolset or an application, with the headers for authentication."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    protocol: Literal["streamable_http", "sse"] = "streamable_http"
    display_name: str | Mapping[str, str] = ""
    description: str | Mapping[str, str] = ""


SignIn = Literal["success", "denied", "error", "timeout", "unavailable"]
"""The outcome of a sign-in request to a user. `unavailable` means that there is no user to ask.
"""


class Workspace(Protocol):
    """The resources of a caller. A deployment is a model, or an application that can be called like
    a model.
    """

    def inside(self, application: str, keys: KeyUse = "platform") -> "Workspace":
        """Return a copy of the workspace for a run of the application. The run cannot call this
        application again. `keys` determines whose keys are used for calls to models.
        """
        ...

    async def deployment(self, deployment_id: str) -> DeploymentInfo:
        """Return the description of a deployment. Raises `DeploymentNotFound` if the caller cannot
        use it, and `CallsItself` if it is in the chain of callers.
        """
        ...

    async def facts(self, deployment_id: str) -> DeploymentInfo:
        """Return the technical facts that are needed to call a deployment: features, limits and
        defaults.

        The facts may come from another caller's request, so they do not prove access. Texts and the
        configuration schema may be missing. Raises the same errors as `deployment`.
        """
        ...

    async def assumed(self, deployment_id: str) -> DeploymentInfo:
        """Return the facts that are known about a deployment without a request. Raises the same
        errors as `deployment`.
        """
        ...

    async def model(
        self,
        deployment_id: str,
        *,
        headers: Collection[str] | None = None,
        idle_seconds: float | None = None,
    ) -> Model:
        """Return the deployment as a model.

        `headers` lists the names of the caller's headers that are forwarded to DIAL and to this
        installation's applications, or is None for all headers. `idle_seconds` is the read timeout;
        None means the tool timeout. Raises `DeploymentNotFound` if the caller cannot use the
        deployment, and `CallsItself` if it is in the chain of callers.
        """
        ...

    async def embedder(self, deployment_id: str | None) -> Embedder:
        """Return an embedding model, or the installation's default if `deployment_id` is None.
        Raises `DeploymentNotFound`, including for a deployment of another kind.
        """
        ...

    async def usable_deployments(self) -> Collection[str] | None:
        """Return the IDs of all deployments that the caller may use, or None if they are
        unknown.
        """
        ...

    async def memories(self, *, is_shared: bool = False) -> "MemoryStore | None":
        """Return the memories that this run's caller has in the application, or None if the caller
        cannot have memories.

        If `is_shared` is True and the caller has enabled sharing, return the memories that all
        applications with `is_shared` share.
        """
        ...

    def corpus(self) -> CorpusReader | None:
        """Return the files that are attached to this run's application, or None if no attached
        files are indexed here.
        """
        ...

    async def prompt(self, path: str) -> str:
        """Return the text of a stored prompt. Raises `Unsupported` if there is no DIAL Core, and
        `FileRefused` if the caller cannot read the prompt.
        """
        ...

    async def skill(self, path: str) -> StoredSkill:
        """Return a stored skill. `path` is `skills/{bucket}/{name}`. Raises `Unsupported` if there
        is no DIAL Core, and `FileRefused` if the caller cannot read the skill.
        """
        ...

    async def skill_file(self, path: str, file: str) -> str:
        """Return the text of a file in a skill. Raises `Unsupported` if there is no DIAL Core, and
        `FileRefused` if the caller cannot read the file.
        """
        ...

    @property
    def files(self) -> Files: ...

    async def mcp_endpoint(self, deployment_id: str) -> McpEndpoint:
        """Return the MCP endpoint of a toolset, or of an application with the feature `mcp`.

        Raises `DeploymentNotFound` if the caller cannot use it, and `Unsupported` if it has no
        endpoint.
        """
        ...

    async def sign_in(self, toolset_ids: Sequence[str]) -> Mapping[str, SignIn]:
        """Ask the user to sign in to all of these toolsets at once, and return the outcomes by ID.
        Never raises.
        """
        ...

    async def sign_in_to_service(self, scope: str) -> SignIn:
        """Ask the user to sign in to a service that an MCP server needs, and return the outcome.
        Never raises.
        """
        ...

    async def grant(self, paths: Sequence[str], receiver: str) -> None:
        """Allow a deployment or toolset (`receiver`) to read the files during this request. Raises
        `FileRefused` if the access cannot be granted.
        """
        ...
