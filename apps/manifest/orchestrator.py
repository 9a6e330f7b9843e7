"""The model that drives an application, and its loop."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from apps.manifest.deployments import Deployment
from apps.manifest.nodes import Marks, Node
from apps.manifest.prompts import CustomSystemPrompt, SystemPrompt


class AttachmentStrategy(Node):
    """The model is told of attachments and asks for those it wants to see."""

    type: Literal["lazy_on_demand"] = "lazy_on_demand"
    accepted_types: Annotated[tuple[str, ...], Field(min_length=1)] | None = Field(
        default=None, description="MIME types; null means all that the deployment takes."
    )


class ToolDiscovery(Node):
    """Tools of large toolsets are found by searching instead of being listed."""

    enabled: bool = False
    service_model: str | None = Field(
        default=None, description="Deployment that searches; null means the orchestrator's."
    )
    min_tools_for_deferral: int = Field(
        default=10, ge=1, description="Toolsets with fewer tools are listed all the same."
    )


class Orchestrator(Node):
    deployment: Deployment
    system_prompt: SystemPrompt = CustomSystemPrompt(content="", variables={})
    max_iterations: int = Field(default=15, description="Model calls per answer; -1: no limit.")
    propagate_stages: bool = Field(default=True, description="Show the model's own stages.")
    attachment_strategy: AttachmentStrategy | None = None
    tool_discovery: ToolDiscovery | None = Field(
        default=None, json_schema_extra=Marks(preview=True)
    )
