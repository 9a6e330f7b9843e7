"""The model that drives an application, and its loop."""

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.deployments import DeploymentReference
from apps.manifest.nodes import IN_PREVIEW, Node, is_checked
from apps.manifest.prompts import CustomSystemPrompt, SystemPrompt


class AttachmentStrategy(Node):
    """Sends the model a list of attachments, from which it requests what it needs."""

    type: Literal["lazy_on_demand"] = "lazy_on_demand"
    """The only strategy."""
    accepted_types: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """MIME types that the model may request, such as `["application/pdf", "image/*"]`. Null: all
    that its deployment supports. Unsupported types are never offered.
    """


class ToolDiscovery(Node):
    """Lets the model search for the tools of large toolsets instead of listing them all."""

    enabled: bool = False
    """Withhold large toolsets from the model, and give it a search tool to find their tools. Use
    this for applications with so many tools that listing all of them costs too much.
    """
    service_model: str | None = None
    """The ID of the deployment that selects the tools that match a search; a small, fast one is
    enough. Null: the orchestrator's.
    """
    min_tools_for_deferral: int = Field(default=10, ge=1)
    """Toolsets with fewer tools are always listed. Left out: `MIN_TOOLS_FOR_DEFERRAL` of the
    installation, which is 10 by default.
    """


class ContextLimits(Node):
    """Controls what happens to a conversation that becomes too long for the model."""

    strategy: Literal["summarise", "trim", "refuse"] = "summarise"
    """Controls what happens to the oldest turns if the conversation is still too long without old
    tool results. `summarise`: the model reads a summary of them, which it writes itself. `trim`:
    they are left out. `refuse`: the question is rejected. All turns stay stored and visible. An
    application that is used as the model cannot write summaries; for it, `summarise` means `trim`.
    """
    at: float = Field(default=0.8, gt=0, le=1)
    """A conversation is too long if it fills more than this share of the model's context window.
    The rest is reserved for the answer.
    """
    durations: dict[str, Annotated[int, Field(ge=0)] | None] = Field(default_factory=dict)
    """The number of turns for which the model reads the results of a tool, by the tool's name as
    the model sees it: `{"desk_find_ticket": 2}`. 0: never, so that only users see the result; 1:
    in the turn of the call; 2: also in the next turn; null: always. Results that the model no
    longer reads stay stored and visible. A name includes the prefix of its toolset. If two tools
    have the same name, only the first one is used. The results of other tools are always read.
    """


class ClientPermissions(Node):
    """The parts of a request that an API client may add when it calls the application directly."""

    system_messages: bool = True
    """Add the client's system and developer messages below the system prompt. False: a request with
    such a message is rejected.
    """
    service_tier: bool = False
    """Forward the client's `service_tier`, which affects the cost of a request."""
    metadata: bool = False
    """Forward the client's `metadata`, which the model's service may store."""
    user: bool = False
    """Forward the client's `user`, which identifies the user to the model's service."""

    @property
    def parameters(self) -> frozenset[str]:
        names = ("service_tier", "metadata", "user")
        return frozenset(name for name in names if getattr(self, name))


class Orchestrator(Node):
    """The model that answers, its prompt, and the limits of its loop."""

    deployment: DeploymentReference
    """The model that answers. It may be left out if the installation has a default
    (`DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID`).
    """
    choices: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(max_length=50)] = ()
    """The IDs of other deployments that users can choose on the chat page, for a conversation or
    another answer, instead of `deployment`; they get the same parameters. Empty: users cannot
    change the model. Gateway clients and DIAL Core always get `deployment`.
    """
    system_prompt: SystemPrompt = CustomSystemPrompt(content="", variables={})
    """The model's instructions for every conversation. Left out: only the texts from contexts,
    skills and features.
    """
    max_iterations: int = 15
    """The limit of model calls for one answer: 1 or more, or -1 for no limit. Each round of tool
    calls takes one. An answer that needs more ends with an error. Left out:
    `DEFAULT_AGENT_MAX_ITERATIONS` of the installation, which is 15 by default.
    """
    propagate_stages: bool = True
    """Show the stages that the model itself reports, if the deployment is an application. The
    stages of tools are not affected.
    """
    client: ClientPermissions = ClientPermissions()
    """The parts of a request that an API client may add when it calls the application directly. For
    requests from DIAL Core, DIAL's own rules apply.
    """
    context: ContextLimits = ContextLimits()
    """Controls what happens to a conversation that becomes too long for the model. It has no effect
    if the model's context window is unknown.
    """
    attachment_strategy: AttachmentStrategy | None = None
    """Controls how the model gets users' attachments. Null: it gets images, and a list of other
    files. With a strategy, it requests the files that it needs.
    """
    tool_discovery: ToolDiscovery | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """Have the model search for tools instead of listing them all. Null: all are listed."""

    @field_validator("max_iterations")
    @classmethod
    def _lets_the_model_be_called(cls, limit: int, info: ValidationInfo) -> int:
        if is_checked(info) and not is_limit(limit):
            raise PydanticCustomError("max_iterations", NO_LIMIT)
        return limit


NO_LIMIT = "is not a valid number of model calls; use 1 or more, or -1 for no limit"


def is_limit(iterations: int) -> bool:
    return iterations > 0 or iterations == -1
