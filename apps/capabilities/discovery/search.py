"""Searches the hidden tools of a run with a model or by keywords, and reveals the tools that it
finds.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from apps.agent.tools import CallTool, Invocation, Tool, Toolbox, ToolResult, ToolSpec
from apps.capabilities.discovery.chooser import DESCRIPTION_CHARACTERS, MOST_FOUND, choose
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.internal import show_result
from apps.capabilities.wrappers.value_texts import one_line
from apps.errors import ToolError

TOOL_NAME = "internal_tool_search"
STATE_KEY = "lazy_loaded_tools"
"""The key in the conversation's state under which the names of found tools are stored."""
SHORTEST = 3
"""The minimum length of a keyword in characters. It excludes words such as "to" and "of"."""
STEM = 4
"""Two words match if they share a prefix of at least this many characters."""
QUERY_WORDS = 50
NAME_WEIGHT = 2

_word = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Search:
    """Finds hidden tools, and makes them available to the model."""

    toolbox: Toolbox
    deferred: Mapping[str, Tool]
    """The hidden tools by name."""
    deployment_id: str
    topics: str
    """Lines that describe the hidden toolsets to the model."""

    def withhold(self) -> None:
        """Hide the deferred tools. A call to a hidden tool fails until a search has found it."""
        for name, tool in self.deferred.items():
            del self.toolbox.listed[name]
            self.toolbox.unlisted[name] = replace(tool, call=refusal(name))

    def reveal(self, names: Iterable[str], saved: dict[str, Any]) -> None:
        """Make the named tools available for the rest of the run, and store the names of all found
        tools in `saved` for later requests.
        """
        for name in names:
            if self.toolbox.unlisted.pop(name, None) is not None:
                self.toolbox.listed[name] = self.deferred[name]
        found = [name for name in self.toolbox.listed if name in self.deferred]
        if found:
            saved[STATE_KEY] = found

    def recall(self, state: Mapping[str, Any], saved: dict[str, Any]) -> None:
        # The state comes from the client and is untrusted.
        names = state.get(STATE_KEY)
        if isinstance(names, list):
            known = [name for name in names if isinstance(name, str) and name in self.deferred]
            self.reveal(known, saved)

    async def find(self, opening: Opening, invocation: Invocation) -> ToolResult:
        query = str(invocation.arguments["query"])
        specs = [tool.spec for tool in self.deferred.values()]
        choice = await choose(opening, self.deployment_id, query, specs)
        names = match_words(query, specs) if choice.names is None else choice.names
        names = names[:MOST_FOUND]
        self.reveal(names, opening.conversation.saved)
        text = self.message(names)
        show_result(invocation, text)
        return ToolResult(text, usage=choice.usage)

    def message(self, names: Iterable[str]) -> str:
        lines = [
            f"- {name}: {one_line(self.deferred[name].spec.description, DESCRIPTION_CHARACTERS)}"
            for name in names
        ]
        if lines:
            return "\n".join(["You can call these tools now:", *lines])
        return (
            "No tool was found. Describe in other words what the tool should do, or continue "
            f"without one. There are tools in:\n{self.topics}"
        )


def refusal(name: str) -> CallTool:
    async def call(invocation: Invocation) -> ToolResult:
        raise ToolError(
            f"The tool '{name}' is not available yet. Call {TOOL_NAME} with a query that "
            "describes what you need; when it lists the tool, call the tool again."
        )

    return call


def match_words(query: str, specs: Iterable[ToolSpec]) -> list[str]:
    """Return the names of the tools that share words with the query, best match first."""
    wanted = sorted(words(query))[:QUERY_WORDS]
    scores = {spec.name: score(wanted, spec) for spec in specs}
    found = [name for name, points in scores.items() if points]
    return sorted(found, key=lambda name: -scores[name])


def score(wanted: Iterable[str], spec: ToolSpec) -> int:
    name, description = words(spec.name), words(spec.description)
    return sum(
        NAME_WEIGHT * any(alike(word, other) for other in name)
        + any(alike(word, other) for other in description)
        for word in wanted
    )


def words(text: str) -> set[str]:
    return {word for word in _word.findall(text.casefold()) if len(word) >= SHORTEST}


def alike(one: str, other: str) -> bool:
    shorter = min(len(one), len(other))
    return one == other or (shorter >= STEM and one[:shorter] == other[:shorter])
