"""Defines tools that are prepared once for a manifest, and bound to each run."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from apps.agent.stages import Announcement
from apps.agent.tools import Invocation, Tool, ToolResult, ToolSpec
from apps.capabilities.registry import Opening

Work = Callable[[Opening, Invocation], Coroutine[Any, Any, ToolResult]]
"""A function that runs a tool call. Unlike `CallTool`, it receives the context of the run."""

Announce = Callable[[str], Announcement | None]


def announce_nothing(locale: str) -> Announcement | None:
    return None


@dataclass(frozen=True, slots=True)
class PreparedTool:
    """A tool that is prepared for a manifest and not yet bound to a run.

    `is_private`, `is_read_only` and `full_name` are as in `Tool`.
    """

    spec: ToolSpec
    work: Work
    toolset: str = ""
    """The path of the tool's toolset in the manifest, or ""."""
    streams: str = ""
    """The argument that the stage shows while the model writes it, or ""."""
    announce: Announce = announce_nothing
    """A function that returns what the stage shows, in a locale, before the arguments are complete.
    """
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of every call that the model does not see."""
    is_repeatable: bool = False
    """True if calling the tool twice has the same effect as calling it once."""
    is_private: bool = False
    is_read_only: bool = False
    full_name: str = ""

    def bind(self, opening: Opening) -> Tool:
        announcement = self.announce(opening.caller.client.locale)
        work = partial(self.work, opening)
        return Tool(
            self.spec,
            work,
            self.toolset,
            announcement,
            self.constants,
            self.is_repeatable,
            self.is_private,
            self.is_read_only,
            self.full_name,
        )
