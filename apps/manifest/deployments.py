"""Model and application deployments, and the parameters they are called with."""

from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import Marks, Node

ReasoningEffort = Literal["none", "minimal", "low", "medium", "high"]


class CustomFields(Node):
    """Parameters that only DIAL knows."""

    configuration: dict[str, Any] | None = None
    """Settings of the deployment, as its own configuration schema names them; sent as
    `custom_fields.configuration`."""


class Parameters(Node):
    """Request parameters; null leaves the choice to the deployment."""

    temperature: float | None = None
    """How freely words are chosen: 0 is the most predictable; most services take up to 1 or 2."""
    top_p: float | None = None
    """Choose only among the likeliest words that have this share of the probability together, 0
    to 1. Set this or `temperature`, not both."""
    seed: int | None = None
    """Services that know it answer equal requests alike for equal seeds, as far as they can."""
    stop: str | tuple[str, ...] | None = None
    """A text, or several, at which the model stops writing. Most services take up to four."""
    n: int | None = None
    """How many answers the service writes for one request. Leave it out: several would run into
    one."""
    max_tokens: int | None = None
    """The longest that one reply of the model may be, in tokens. Null: the service's own limit."""
    presence_penalty: float | None = None
    """Above 0, the model rather turns to what was not mentioned yet; usually -2 to 2."""
    frequency_penalty: float | None = None
    """Above 0, the model repeats itself less; usually -2 to 2."""
    reasoning_effort: ReasoningEffort | None = None
    """How long a reasoning model thinks before it answers. Which values it takes depends on the
    model."""
    custom_fields: CustomFields | None = None
    """Parameters that only DIAL knows."""


class StaticFunction(Node):
    # Further keys are sent as they are.
    model_config = ConfigDict(extra="allow")

    name: str
    """The name under which the deployment knows its tool, such as `web_search`."""
    description: str | None = None
    """What the deployment is told about the tool, if it asks for that."""
    configuration: dict[str, Any] | None = None
    """Settings of the tool, as the deployment knows them."""


class StaticFunctionTool(Node):
    """A tool that the target deployment runs itself."""

    model_config = ConfigDict(extra="allow")

    type: Literal["static_function"] = "static_function"
    """The only kind there is."""
    static_function: StaticFunction
    """Which of the deployment's own tools it is."""


class ToolParameters(Parameters):
    tools: tuple[StaticFunctionTool, ...] | None = None
    """Tools that the deployment runs itself, such as a search of its own. They are sent as they
    are; nothing is called here."""


class Deployment(Node):
    """A model or an application, and what it is sent with every request."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["deployment_id"]}, {"required": ["name"]}]}
    )

    deployment_id: str = Field(default_factory=str, json_schema_extra=Marks(resource=True))
    """Id of a model or an application: a deployment of this installation, one of DIAL Core, or the
    slug of another application here."""
    parameters: Parameters = Field(default_factory=Parameters)
    """What is sent with every request; what is left out is the deployment's choice."""
    name: str = Field(
        default_factory=str,
        json_schema_extra=Marks(deprecated=True, resource=True, advice="Write `deployment_id`."),
    )
    """An older name of `deployment_id`, which wins where both are written."""

    @property
    def id(self) -> str:
        """The deployment's id, however it was written; `deployment_id` wins."""
        return self.deployment_id or self.name

    @model_validator(mode="after")
    def _names_a_deployment(self) -> Self:
        if not self.id:
            raise PydanticCustomError(
                "deployment_missing", "names no deployment; write its id as `deployment_id`"
            )
        return self


class ToolDeployment(Deployment):
    parameters: ToolParameters = Field(default_factory=ToolParameters)
    """What is sent with every request; arguments of the model go over it, and what is left out is
    the deployment's choice."""
