"""Defines the orchestrator: the model that answers, its prompt and its limits."""

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.deployments import DeploymentReference
from apps.manifest.nodes import IN_PREVIEW, Node, is_checked
from apps.manifest.prompts import CustomSystemPrompt, SystemPrompt


class AttachmentStrategy(Node):
    """Sends the model a list of attachments, from which it requests what it needs."""

    type: Literal["lazy_on_demand"] = "lazy_on_demand"
    """Always `lazy_on_demand`: the model requests the attachments that it needs."""
    accepted_types: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """MIME types that the model may request, such as `["application/pdf", "image/*"]`. Null: all
    types that the model's deployment supports. Unsupported types are never offered.
    """


class ToolDiscovery(Node):
    """Lets the model search for the tools of large toolsets instead of listing them all."""

    enabled: bool = False
    """Hide large toolsets from the model, and give it a search tool to find their tools. Use this
    setting if sending all tools with each request would cost too much.
    """
    service_model: str | None = None
    """The ID of the deployment that selects the tools that match a search. A small, fast model is
    enough. Null: the orchestrator's deployment.
    """
    min_tools_for_deferral: int = Field(default=10, ge=1)
    """Toolsets with fewer tools are never hidden. Omitted: the installation's
    `MIN_TOOLS_FOR_DEFERRAL` (10 by default).
    """


class ContextLimits(Node):
    """Controls what happens to a conversation that becomes too long for the model."""

    strategy: Literal["summarise", "trim", "refuse"] = "summarise"
    """Controls what happens to the oldest turns if the conversation is still too long without old
    tool results. `summarise`: the model writes a summary of these turns, and reads the summary
    instead. `trim`: the turns are omitted. `refuse`: the question is rejected. All turns remain
    stored and visible. If an application is used as the model, it cannot write summaries, and
    `summarise` has the same effect as `trim`.
    """
    at: float = Field(default=0.8, gt=0, le=1)
    """The proportion of the model's context window above which a conversation is too long. The rest
    is reserved for the answer.
    """
    durations: dict[str, Annotated[int, Field(ge=0)] | None] = Field(default_factory=dict)
    """The number of turns for which the model reads a tool's results, by tool name, such as
    `{"desk_find_ticket": 2}`. Use the name that the model sees, which includes the toolset's
    prefix. 0: never, so that only users see the results. 1: only in the turn of the call. 2: also
    in the next turn. Null: always. Results that the model no longer reads remain stored and
    visible. The model always reads the results of other tools.
    """


class ClientPermissions(Node):
    """The additional fields that API clients may send when they call the application directly."""

    system_messages: bool = True
    """Add the client's system and developer messages after the system prompt. False: a request with
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
    """The model that answers, its prompt and its limits."""

    deployment: DeploymentReference
    """The model that answers. Optional if the installation has a default
    (`DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID`).
    """
    choices: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(max_length=50)] = ()
    """The IDs of other deployments that users can select on the chat page when they start a
    conversation or regenerate an answer. They receive the same parameters as `deployment`. Empty:
    users cannot change the model. Gateway clients and DIAL Core always use `deployment`.
    """
    system_prompt: SystemPrompt = CustomSystemPrompt(content="", variables={})
    """The model's instructions for every conversation. Omitted: the prompt contains only the texts
    from contexts, skills and features.
    """
    max_iterations: int = 15
    """The maximum number of model calls per answer: 1 or more, or -1 for no limit. Each round of
    tool calls takes one model call. An answer that needs more calls ends with an error. Omitted:
    the installation's `DEFAULT_AGENT_MAX_ITERATIONS` (15 by default).
    """
    propagate_stages: bool = True
    """Show the stages that the model itself reports, if the deployment is an application. This
    setting does not affect the stages of tools.
    """
    client: ClientPermissions = ClientPermissions()
    """The additional fields that API clients may send when they call the application directly. For
    requests from DIAL Core, DIAL's own rules apply.
    """
    context: ContextLimits = ContextLimits()
    """Controls what happens to a conversation that becomes too long for the model. This setting has
    no effect if the model's context window is unknown.
    """
    attachment_strategy: AttachmentStrategy | None = None
    """Controls how the model gets users' attachments. Null: the model gets images, and a list of
    other files. With a strategy, the model requests the files that it needs.
    """
    tool_discovery: ToolDiscovery | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """Let the model search for tools instead of sending it all of them. Null: all tools are sent.
    """

    @field_validator("max_iterations")
    @classmethod
    def _lets_the_model_be_called(cls, limit: int, info: ValidationInfo) -> int:
        if is_checked(info) and not is_limit(limit):
            raise PydanticCustomError("max_iterations", NO_LIMIT)
        return limit


NO_LIMIT = "is not a valid number of model calls; use 1 or more, or -1 for no limit"


def is_limit(iterations: int) -> bool:
    return iterations > 0 or iterations == -1
