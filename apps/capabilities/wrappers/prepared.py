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
    """A tool that is prepared for a manifest and not yet bound to a run. `toolset` is the path of
    its toolset in the manifest, or "".

    `streams` is the argument that is shown while the model writes it, or "". For a locale,
    `announce` returns the announcement that opens a stage before the arguments are complete.
    `constants` are arguments of every call that the model does not see. `is_repeatable` means that
    calling the tool twice has the same effect as calling it once. `is_private`, `is_read_only` and
    `full_name` are as in `Tool`.
    """

    spec: ToolSpec
    work: Work
    toolset: str = ""
    streams: str = ""
    announce: Announce = announce_nothing
    constants: Mapping[str, Any] = field(default_factory=dict)
    is_repeatable: bool = False
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
