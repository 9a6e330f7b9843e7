"""Model and application deployments, and the parameters they are called with."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import Marks, Node

ReasoningEffort = Literal["none", "minimal", "low", "medium", "high"]


class CustomFields(Node):
    configuration: dict[str, Any] | None = None


class Parameters(Node):
    """Request parameters; null leaves the choice to the deployment."""

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    stop: str | tuple[str, ...] | None = None
    n: int | None = None
    max_tokens: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    reasoning_effort: ReasoningEffort | None = None
    custom_fields: CustomFields | None = None


class StaticFunction(Node):
    model_config = ConfigDict(extra="allow")

    name: str
    description: str | None = None
    configuration: dict[str, Any] | None = None


class StaticFunctionTool(Node):
    """A tool that the target deployment runs itself."""

    model_config = ConfigDict(extra="allow")

    type: Literal["static_function"] = "static_function"
    static_function: StaticFunction


class ToolParameters(Parameters):
    tools: tuple[StaticFunctionTool, ...] | None = None


class Deployment(Node):
    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["deployment_id"]}, {"required": ["name"]}]}
    )

    deployment_id: str = Field(
        default_factory=str,
        description="Id of a model or an application.",
        json_schema_extra=Marks(resource=True),
    )
    parameters: Parameters = Field(default_factory=Parameters)
    name: str = Field(
        default_factory=str,
        json_schema_extra=Marks(deprecated=True, resource=True, advice="Write `deployment_id`."),
    )

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
