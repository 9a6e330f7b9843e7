"""Helpers that the orchestrator may hand a task to, with the toolsets that it chooses for them."""

from collections import Counter
from typing import Annotated

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import Marks, Node


class Subagent(Node):
    """A kind of helper, of an older form of the manifest. It is read and has no effect: helpers need
    no kinds any more."""

    name: str
    """What the kind was called. No effect."""
    description: str
    """What the kind was for. No effect."""
    system_prompt: str
    """What helpers of the kind were told. No effect; see `subagents.system_prompt`."""
    tool_sets: tuple[str, ...] | None = None
    """Names of the toolsets that the kind had. No effect: the model chooses them for each task."""
    deployment_id: str | None = None
    """The model of the kind. No effect; see `subagents.deployment_id`."""
    max_iterations: Annotated[int, Field(gt=0)] | None = None
    """The model calls of the kind. No effect; see `subagents.max_iterations`."""


class Subagents(Node):
    """Helpers that the model hands tasks to."""

    enabled: bool = False
    """Give the model the tool `task`, with which it hands a task to a helper and chooses the
    toolsets for it."""
    system_prompt: str | None = None
    """What helpers are told in place of the application's prompt. Null: a prompt that is built
    in."""
    deployment_id: str | None = None
    """Id of the model of helpers. Null: the one of the orchestrator."""
    max_iterations: Annotated[int, Field(gt=0)] | None = None
    """How often the model may be asked for one task. Null: as often as for an answer of the
    application."""
    types: tuple[Subagent, ...] = Field(
        default_factory=tuple,
        json_schema_extra=Marks(
            advice="Leave it out; the model writes each task itself and chooses its toolsets."
        ),
    )
    """Kinds of helpers, of an older form of the manifest. Their names must differ."""
    timeout_seconds: Annotated[float, Field(gt=0)] | None = None
    """How many seconds one task may take; never more than `SUBAGENT_TIMEOUT_SECONDS` of the
    installation, which is 600 unless it is set. Null: that."""

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
