"""What the model has for work of several steps: helpers, a to-do list, and the last word."""

from typing import Annotated

from pydantic import Field

from apps.manifest.nodes import Node


class SpawnAgent(Node):
    """Helpers of predefined kinds, which the model begins and the person can open and stop."""

    enabled: bool = False
    """Give the model the tool `spawn-agent`, with which it hands a task to a helper."""
    agents: tuple[str, ...] | None = None
    """Names of the predefined agents that the model may choose, such as `["researcher"]`. Null: all of
    them; `[]`: none, so that a helper is the application itself."""
    timeout_seconds: Annotated[float, Field(gt=0)] = 120
    """How many seconds one task may take, unless its agent says so itself; never more than
    `SUBAGENT_TIMEOUT_SECONDS` of the installation."""
    max_iterations: Annotated[int, Field(gt=0)] | None = None
    """How often the model may be asked for one task, unless its agent says so itself. Each time counts
    for the answer as well. Null: as often as the answer has left."""


class Todo(Node):
    """A list of what is to be done, which the model keeps and the person sees ticked."""

    enabled: bool = False
    """Give the model the tool `manage-todo`, with which it writes and reads the one list of the
    conversation. It is told the list each time that it is asked."""


class Summary(Node):
    """The last word of an answer."""

    enabled: bool = False
    """Give the model the tool `summary`, whose text is the end of the answer: the model is not asked
    again."""
