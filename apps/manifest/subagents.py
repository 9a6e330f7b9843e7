"""Helpers that the orchestrator may hand a task to, with the toolsets that it chooses for them."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import Marks, Node


class Subagent(Node):
    """Read for the sake of manifests that have it; helpers need no types any more."""

    name: str
    description: str
    system_prompt: str = Field(description="Replaces the application's prompt.")
    tool_sets: tuple[str, ...] | None = Field(
        default=None, description="Names of toolsets; null means all, an empty list none."
    )
    deployment_id: str | None = None
    max_iterations: Annotated[int, Field(gt=0)] | None = None


class Subagents(Node):
    enabled: bool = False
    system_prompt: str | None = Field(
        default=None, description="What helpers are told; null means a prompt that comes with us."
    )
    deployment_id: str | None = Field(
        default=None, description="Id of a model; null means the orchestrator's."
    )
    max_iterations: Annotated[int, Field(gt=0)] | None = Field(
        default=None, description="Model calls per task; null means the orchestrator's."
    )
    types: tuple[Subagent, ...] = Field(
        default_factory=tuple,
        json_schema_extra=Marks(
            advice="Leave it out; the model writes each task itself and chooses its toolsets."
        ),
    )
    timeout_seconds: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="Of one task; the installation's limit stays."
    )

    @field_validator("types")
    @classmethod
    def _have_different_names(cls, types: tuple[Subagent, ...]) -> tuple[Subagent, ...]:
        counts = Counter(subagent.name for subagent in types)
        twice = [repr(name) for name, count in counts.items() if count > 1]
        if twice:
            names = ", ".join(twice)
            raise PydanticCustomError(
                "subagent_names", f"several sub-agents are named {names}; rename all but one"
            )
        return types
