"""Defines the sub-agents to which the model can delegate tasks."""

from collections import Counter
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import Node

GENERAL_PURPOSE = "general-purpose"
"""The name of the sub-agent whose toolsets the model selects in each call."""

Iterations = Annotated[int, Field(gt=0)]


class GeneralPurpose(Node):
    """The sub-agent for any task. The model selects its toolsets with each call."""

    system_prompt: str | None = None
    """The sub-agent's prompt, which replaces the application's prompt. Null: a built-in prompt."""
    deployment_id: str | None = None
    """The ID of the sub-agent's model. Null: the orchestrator's model."""
    max_iterations: Iterations | None = None
    """The maximum number of model calls per task. Null: the application's limit."""


class Subagent(Node):
    """A type of sub-agent with its own prompt and toolsets."""

    name: str
    """The name by which the model selects the sub-agent. Names must be unique, and `general-purpose`
    is reserved unless `general_purpose` is null.
    """
    description: str
    """The purpose of the sub-agent. The model uses this text to select a sub-agent."""
    system_prompt: str
    """The sub-agent's prompt, which replaces the application's prompt."""
    tool_sets: tuple[str, ...] | None = None
    """Names of the application's toolsets that the sub-agent may use. `[]`: none. Null: all
    toolsets.
    """
    deployment_id: str | None = None
    """The ID of the sub-agent's model. Null: the orchestrator's model."""
    max_iterations: Iterations | None = None
    """The maximum number of model calls per task. Null: the application's limit."""


class Subagents(Node):
    """Sub-agents that the model delegates tasks to."""

    enabled: bool = False
    """Give the model the tool `internal_task`, which delegates a task to a sub-agent."""
    general_purpose: GeneralPurpose | None = Field(default_factory=GeneralPurpose)
    """The sub-agent `general-purpose`, for which the model selects the toolsets. Null: this
    sub-agent is not available.
    """
    types: tuple[Subagent, ...] = Field(default_factory=tuple)
    """Custom sub-agents. Their names must be unique."""
    timeout_seconds: Annotated[float, Field(gt=0)] | None = None
    """The time limit for one task in seconds. It cannot exceed the installation's
    `SUBAGENT_TIMEOUT_SECONDS` (600 by default). Null: the installation's limit.
    """

    @field_validator("types")
    @classmethod
    def _have_different_names(
        cls, types: tuple[Subagent, ...], info: ValidationInfo
    ) -> tuple[Subagent, ...]:
        counts = Counter(subagent.name for subagent in types)
        twice = [repr(name) for name, count in counts.items() if count > 1]
        if twice:
            names = ", ".join(twice)
            raise PydanticCustomError(
                "subagent_names", f"several sub-agents are named {names}; rename all but one"
            )
        if GENERAL_PURPOSE in counts and info.data.get("general_purpose") is not None:
            raise PydanticCustomError(
                "subagent_names",
                f"{GENERAL_PURPOSE!r} is reserved; rename this sub-agent, or set "
                "`general_purpose` to null",
            )
        return types
