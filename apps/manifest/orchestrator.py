"""The model that drives an application, and its loop."""

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.deployments import Deployment
from apps.manifest.nodes import IN_PREVIEW, Node, is_checked
from apps.manifest.prompts import CustomSystemPrompt, SystemPrompt


class AttachmentStrategy(Node):
    """The model is told of attachments and asks for those it wants to see."""

    type: Literal["lazy_on_demand"] = "lazy_on_demand"
    """The only strategy there is."""
    accepted_types: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """MIME types that the model may ask for, such as `["application/pdf", "image/*"]`. Null: all
    that its deployment takes. What the deployment does not take is never offered."""


class ToolDiscovery(Node):
    """Tools of large toolsets are found by searching instead of being listed."""

    enabled: bool = False
    """Withhold large toolsets from the model, and give it a tool that finds theirs. It is for
    applications with so many tools that listing them all costs too much."""
    service_model: str | None = None
    """Id of the deployment that chooses tools for what was searched; a small, quick one will do.
    Null: the one of the orchestrator."""
    min_tools_for_deferral: int = Field(default=10, ge=1)
    """A toolset with fewer tools is listed all the same. Left out: `MIN_TOOLS_FOR_DEFERRAL` of the
    installation, which is 10 unless it is set."""


class ContextLimits(Node):
    """What happens to a conversation that becomes too long for the model."""

    strategy: Literal["summarise", "trim", "refuse"] = "summarise"
    """What happens to the oldest turns, once results of tools are left out and the conversation is
    still too long. `summarise`: the model reads a summary of them, which it writes itself; `trim`:
    they are left out; `refuse`: the question is refused. All of them stay stored and shown.
    Applications that play the model write no summaries: there `summarise` means `trim`."""
    at: float = Field(default=0.8, gt=0, le=1)
    """From which share of the model's window on a conversation is too long. The rest is for the
    answer."""
    durations: dict[str, Annotated[int, Field(ge=0)] | None] = Field(default_factory=dict)
    """For how many turns the model reads the results of a tool, by the name of the tool as the model
    sees it: `{"desk_find_ticket": 2}`. 1: in the turn of the call, 2: in the next one as well; 0:
    never, the result is for people; null: for ever. Results that are not read any more stay stored
    and shown. A name is one tool's: the prefix of its toolset belongs to it, and of two tools of one name
    only the first is used. Tools that are not named: `TOOL_RESULT_DURATION` of the installation, which is for ever
    unless it is set."""


class ClientPermissions(Node):
    """What a program may bring that calls the application by itself."""

    system_messages: bool = True
    """Add the client's system and developer messages below the system prompt. False: a request that
    has one is refused."""
    service_tier: bool = False
    """Pass on the client's `service_tier`, which changes what a request costs."""
    metadata: bool = False
    """Pass on the client's `metadata`, which the model's service may keep."""
    user: bool = False
    """Pass on the client's `user`, which tells the model's service who asks."""

    @property
    def parameters(self) -> frozenset[str]:
        """The names of the request parameters that are allowed."""
        names = ("service_tier", "metadata", "user")
        return frozenset(name for name in names if getattr(self, name))


class Orchestrator(Node):
    """The model that answers, its prompt, and the limits of its loop."""

    deployment: Deployment
    """The model that answers. It may be left out where the installation has a default
    (`DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID`)."""
    choices: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(max_length=50)] = ()
    """Ids of other deployments that people may choose on the chat page, for a conversation or for one
    more answer, in place of `deployment`; its parameters are sent to them as well. Empty: the model is
    fixed. Programs, the gateway and DIAL Core always get `deployment`."""
    system_prompt: SystemPrompt = CustomSystemPrompt(content="", variables={})
    """What the model is told about its task before every conversation. Left out: nothing but what
    contexts, skills and features add."""
    max_iterations: int = 15
    """How often the model may be asked for one answer; each round of tools takes one call. An
    answer that needs more ends with an error. 1 or more; -1: no limit. Left out:
    `DEFAULT_AGENT_MAX_ITERATIONS` of the installation, which is 15 unless it is set."""
    propagate_stages: bool = True
    """Show the stages that the model tells of itself, where the deployment is an application. The
    stages of tools are not affected."""
    client: ClientPermissions = ClientPermissions()
    """What a program may bring that calls the application by itself. DIAL Core's callers have the
    rules of DIAL instead."""
    context: ContextLimits = ContextLimits()
    """What happens to a conversation that becomes too long for the model. It has no effect where the
    window of the model is not known."""
    attachment_strategy: AttachmentStrategy | None = None
    """How the model gets what users attach. Null: it is shown the pictures and told of the rest;
    otherwise it asks for what it wants to see."""
    tool_discovery: ToolDiscovery | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """Let the model search for tools instead of listing them all. Null: all are listed."""

    @field_validator("max_iterations")
    @classmethod
    def _lets_the_model_be_called(cls, limit: int, info: ValidationInfo) -> int:
        if is_checked(info) and not is_limit(limit):
            raise PydanticCustomError("max_iterations", NO_LIMIT)
        return limit


NO_LIMIT = "is no number of model calls; write 1 or more, or -1 for no limit"


def is_limit(iterations: int) -> bool:
    return iterations > 0 or iterations == -1
