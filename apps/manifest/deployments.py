"""Defines references to models and applications, and the parameters of requests to them."""

from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import Marks, Node

ReasoningEffort = Literal["none", "minimal", "low", "medium", "high"]


class CustomFields(Node):
    """Parameters that only DIAL supports."""

    configuration: dict[str, Any] | None = None
    """The deployment's configuration, with the field names from its configuration schema. QuickApps
    sends it as `custom_fields.configuration`.
    """


class Parameters(Node):
    """Request parameters. If a parameter is null, the deployment's default applies."""

    temperature: float | None = None
    """The randomness of the answer. A value of 0 gives the most predictable answers. Most services
    accept values up to 1 or 2.
    """
    top_p: float | None = None
    """The model chooses only among the most probable tokens whose probabilities add up to this
    value, from 0 to 1. Set either this field or `temperature`.
    """
    seed: int | None = None
    """Services that support seeds return similar answers to identical requests with the same
    seed.
    """
    stop: str | tuple[str, ...] | None = None
    """One or more stop sequences. The model stops when it generates one of them. Most services
    accept up to four.
    """
    n: int | None = None
    """The number of answers that the service generates for one request. Do not set this field:
    multiple answers would be merged into one.
    """
    max_tokens: int | None = None
    """The maximum number of output tokens per model reply. Null: the service's own limit."""
    presence_penalty: float | None = None
    """With values above 0, the model prefers new topics. The usual range is -2 to 2."""
    frequency_penalty: float | None = None
    """With values above 0, the model repeats itself less. The usual range is -2 to 2."""
    reasoning_effort: ReasoningEffort | None = None
    """The amount of reasoning before the answer. The valid values depend on the model."""
    custom_fields: CustomFields | None = None
    """Parameters that only DIAL supports."""


class StaticFunction(Node):
    # Other keys are sent unchanged.
    model_config = ConfigDict(extra="allow")

    name: str
    """The deployment's name for its tool, such as `web_search`."""
    description: str | None = None
    """A description of the tool for the deployment. Null: none."""
    configuration: dict[str, Any] | None = None
    """The configuration of the tool, in the deployment's format."""


class StaticFunctionTool(Node):
    """A tool that the target deployment runs itself."""

    model_config = ConfigDict(extra="allow")

    type: Literal["static_function"] = "static_function"
    """Always `static_function`."""
    static_function: StaticFunction
    """The deployment's own tool."""


class ToolParameters(Parameters):
    tools: tuple[StaticFunctionTool, ...] | None = None
    """Tools that the deployment runs itself, such as its own search. QuickApps sends these tools to
    the deployment unchanged, and never calls them.
    """


class DeploymentReference(Node):
    """A model or an application, and the parameters that every request to it contains."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["deployment_id"]}, {"required": ["name"]}]}
    )

    deployment_id: str = Field(default_factory=str, json_schema_extra=Marks(resource=True))
    """The ID of a model or an application. This can be a deployment of this installation, a DIAL
    Core deployment, or the slug of another application of this installation.
    """
    parameters: Parameters = Field(default_factory=Parameters)
    """Parameters that are sent with every request. Other parameters use the deployment's defaults.
    """
    name: str = Field(
        default_factory=str,
        json_schema_extra=Marks(deprecated=True, resource=True, advice="Use `deployment_id`."),
    )
    """An older name for `deployment_id`. If both fields are set, `deployment_id` takes precedence.
    """

    @property
    def id(self) -> str:
        """Return the deployment's ID. The older field `name` is the fallback for `deployment_id`."""
        return self.deployment_id or self.name

    @model_validator(mode="after")
    def _names_a_deployment(self) -> Self:
        if not self.id:
            raise PydanticCustomError(
                "deployment_missing", "has no `deployment_id`; set it to the ID of a deployment"
            )
        return self


class ToolDeployment(DeploymentReference):
    parameters: ToolParameters = Field(default_factory=ToolParameters)
    """Parameters that are sent with every request. Arguments from the model override these
    parameters. Other parameters use the deployment's defaults.
    """
