"""The search of one run: what is withheld, and how it becomes available."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from apps.agent.tools import CallTool, Invocation, Tool, Toolbox, ToolResult
from apps.capabilities.discovery.matching import match_words
from apps.capabilities.discovery.routing import DESCRIPTION_CHARACTERS, MOST_FOUND, choose
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.texts import one_line
from apps.errors import ToolError

TOOL_NAME = "internal_tool_search"
STATE_KEY = "lazy_loaded_tools"
"""The names of the tools that a conversation has found already."""


@dataclass(frozen=True, slots=True)
class Search:
    """`deferred` are all tools that can be found, also those that were; `topics` tells of them."""

    toolbox: Toolbox
    deferred: Mapping[str, Tool]
    deployment_id: str
    topics: str

    def withhold(self) -> None:
        """Take the deferred tools from the model; called before they are found, they say so."""
        for name, tool in self.deferred.items():
            del self.toolbox.listed[name]
            self.toolbox.unlisted[name] = replace(tool, call=refuse(name))

    def reveal(self, names: Iterable[str], saved: dict[str, Any]) -> None:
        """List the tools from the next call of the model on, and in the next request."""
        for name in names:
            if self.toolbox.unlisted.pop(name, None) is not None:
                self.toolbox.listed[name] = self.deferred[name]
        found = [name for name in self.toolbox.listed if name in self.deferred]
        if found:
            saved[STATE_KEY] = found

    def recall(self, state: Mapping[str, Any], saved: dict[str, Any]) -> None:
        """List what the conversation has found before. The state is the client's: it may lie."""
        names = state.get(STATE_KEY)
        if isinstance(names, list):
            known = [name for name in names if isinstance(name, str) and name in self.deferred]
            self.reveal(known, saved)

    async def find(self, opening: Opening, invocation: Invocation) -> ToolResult:
        query = str(invocation.arguments["query"])
        specs = [tool.spec for tool in self.deferred.values()]
        choice = await choose(opening.workspace, self.deployment_id, query, specs)
        names = match_words(query, specs) if choice.names is None else choice.names
        names = names[:MOST_FOUND]
        self.reveal(names, opening.saved)
        text = self.told(names)
        invocation.stage.write(f"> #### Result:\n\n{text}\n")
        return ToolResult(text, usage=choice.usage)

    def told(self, names: Iterable[str]) -> str:
        lines = [
            f"- {name}: {one_line(self.deferred[name].spec.description, DESCRIPTION_CHARACTERS)}"
            for name in names
        ]
        if lines:
            return "\n".join(["You can call these tools now:", *lines])
        return (
            "No tool was found. Say in other words what the tool should do, or go on without. "
            f"There are tools in:\n{self.topics}"
        )


def refuse(name: str) -> CallTool:
    async def call(invocation: Invocation) -> ToolResult:
        raise ToolError(
            f"The tool '{name}' is not available yet. Call {TOOL_NAME} with a query that says "
            "what you need; when it names the tool, call the tool again."
        )

    return call
