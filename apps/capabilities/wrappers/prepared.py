"""A tool before it belongs to a run: prepared once for a manifest, bound for each run."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from apps.agent.stages import Announcement
from apps.agent.tools import Invocation, Tool, ToolResult, ToolSpec
from apps.capabilities.registry import Opening

Work = Callable[[Opening, Invocation], Coroutine[Any, Any, ToolResult]]
"""As `CallTool`, for whichever run is handed to it."""

Announce = Callable[[str], Announcement | None]


def unannounced(locale: str) -> Announcement | None:
    return None


@dataclass(frozen=True, slots=True)
class PreparedTool:
    """`toolset` is its place in the manifest, "" for none.

    `streams` names an argument that is shown while the model writes it, "" for none. `announce`
    gives, for a locale, the opening of the stage before the arguments are complete. `constants` are
    arguments of every call that the model is not told. `is_repeatable`: two calls have the effect
    of one; `is_private`, `is_read_only`, `full_name`: as of `Tool`.
    """

    spec: ToolSpec
    work: Work
    toolset: str = ""
    streams: str = ""
    announce: Announce = unannounced
    constants: Mapping[str, Any] = field(default_factory=dict)
    is_repeatable: bool = False
    is_private: bool = False
    is_read_only: bool = False
    full_name: str = ""

    def bind(self, opening: Opening) -> Tool:
        announcement = self.announce(opening.caller.locale)
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
