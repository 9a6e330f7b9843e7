"""Defines features for multi-step work: sub-agents, a to-do list, and a summary at the end of an
answer.
"""

from typing import Annotated

from pydantic import Field

from apps.manifest.nodes import Node


class SpawnAgent(Node):
    """Sub-agents of predefined kinds. The model starts them; the user can open and stop them."""

    enabled: bool = False
    """Give the model the tool `spawn-agent`, which delegates a task to a sub-agent."""
    agents: tuple[str, ...] | None = None
    """Names of the predefined agents that the model may select, such as `["researcher"]`. Null: all
    agents. `[]`: none. Each sub-agent is then a copy of the application itself.
    """
    timeout_seconds: Annotated[float, Field(gt=0)] = 120
    """The time limit for one task in seconds, unless the agent sets its own limit. It cannot exceed
    the installation's `SUBAGENT_TIMEOUT_SECONDS`.
    """
    max_iterations: Annotated[int, Field(gt=0)] | None = None
    """The maximum number of model calls per task, unless the agent sets its own limit. Each call
    also counts toward the limit for the answer. Null: the number of calls that remain for the
    answer.
    """


class Todo(Node):
    """A to-do list that the model maintains. The user sees which entries are done."""

    enabled: bool = False
    """Give the model the tool `manage-todo`, which reads and writes the conversation's to-do list.
    Every request to the model contains the list.
    """


class Summary(Node):
    """A tool with which the model writes the end of the answer."""

    enabled: bool = False
    """Give the model the tool `summary`. Its text becomes the end of the answer, without another
    model call.
    """
