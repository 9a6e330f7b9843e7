"""Converts the tools that clients define in requests.

A tool that takes plain text is converted to a function with one text parameter, because few
services support plain-text tools. In the response, its calls are converted back to plain text. A
grammar is added to the description and is not enforced.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.agent.call_arguments import TEXT_INPUT
from apps.agent.tools import ToolSpec

TEXT_PARAMETERS = {
    "type": "object",
    "properties": {TEXT_INPUT: {"type": "string"}},
    "required": [TEXT_INPUT],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class ClientTools:
    """The client's tools in one request, by the name that the model sees."""

    specs: Mapping[str, ToolSpec] = field(default_factory=dict)
    namespaces: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Maps the names of namespaced tools to the namespace and the name in it."""
    ignored: frozenset[str] = frozenset()
    """The types of the tools that the model does not receive."""


NO_TOOLS = ClientTools()


def text_description(description: str, grammar: str = "", syntax: str = "") -> str:
    """Return the description of a tool that takes plain text, with its grammar."""
    rule = f"The input follows this {syntax} grammar:\n{grammar}" if grammar else ""
    return "\n\n".join(filter(None, (description, rule)))


def offered(
    specs: Mapping[str, ToolSpec], allowed: Collection[str] | None
) -> Mapping[str, ToolSpec]:
    """Return the tools that the model may call for this answer: the tools in `allowed`, or all
    tools if it is None.
    """
    if allowed is None:
        return specs
    return {name: spec for name, spec in specs.items() if name in allowed}


def requires_client_tool(choice: str | Mapping[str, Any] | None, external: Collection[str]) -> bool:
    """Return True if `choice`, in the format of a `ModelRequest`, forces the model to call one of
    the client's tools.
    """
    if isinstance(choice, Mapping):
        return choice["function"]["name"] in external
    return choice == "required" and bool(external)
