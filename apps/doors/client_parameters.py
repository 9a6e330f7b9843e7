"""Selects the client's parameters that reach the model, and reports the ignored parameters. All
APIs use the names of the chat completions API here. Also converts the tools that clients define.

A tool that takes plain text is converted to a function with one text parameter, because few
services support plain-text tools. In the response, its calls are converted back to plain text. A
grammar is added to the description and is not enforced.
"""

import heapq
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from apps.agent.call_arguments import TEXT_INPUT
from apps.agent.tools import ToolSpec
from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.bodies import invalid
from apps.doors.refusals import Header
from apps.errors import QuickAppError
from apps.runs.requests import LIMITS
from apps.workspace.port import Workspace

FORWARDED = (
    *("temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "seed"),
    *("presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs"),
    *("reasoning_effort", "verbosity", "prediction"),
)
PERMITTED = ("metadata", "service_tier", "user")
"""The parameters that the manifest must allow, because they cost money or identify a user."""
TOGETHER = "parallel_tool_calls"
PARAMETERS = (*FORWARDED, *PERMITTED, TOGETHER)
IGNORED_HEADER = b"x-ignored-parameters"
LONGEST_NAME = 64
MOST_NAMES = 200
LONGEST_HEADER = 1000
_unsafe = re.compile(r"[^A-Za-z0-9_.-]")
TEXT_PARAMETERS = {
    "type": "object",
    "properties": {TEXT_INPUT: {"type": "string"}},
    "required": [TEXT_INPUT],
    "additionalProperties": False,
}


class SortedParameters(msgspec.Struct, frozen=True):
    """The client's parameters that reach the model, and the names of those that are ignored."""

    forwarded: Mapping[str, Any]
    ignored: frozenset[str] = frozenset()


NO_PARAMETERS = SortedParameters({})


def sort_parameters(
    sent: Mapping[str, Any], application: ResolvedApplication, *, has_functions: bool
) -> SortedParameters:
    """Return the client's parameters that reach the model. Parameters that the manifest sets or
    does not allow are ignored. `has_functions` is True if the client sent tools.
    """
    fixed = application.parameters.keys()
    held = LIMITS if any(name in fixed for name in LIMITS) else ()
    allowed = {*FORWARDED, *application.client_parameters}.difference(fixed, held)
    if has_functions:
        allowed.add(TOGETHER)
    forwarded = {name: value for name, value in sent.items() if name in allowed}
    return SortedParameters(forwarded, frozenset(sent.keys() - allowed))


async def unsupported_parameters(
    parameters: Mapping[str, Any], application: ResolvedApplication, workspace: Workspace
) -> frozenset[str]:
    """Return the names of the parameters that the application's model does not support. Raises
    `BadRequest` if `logprobs` is one of them.
    """
    try:
        info = await workspace.deployment(application.deployment_id)
    except QuickAppError:
        return frozenset()  # The run reports the error.
    supported = info.supported_parameters
    if supported is None:
        return frozenset()
    if parameters.get("logprobs") and "logprobs" not in supported:
        raise invalid(
            "logprobs",
            "The application's model does not report log probabilities. Leave 'logprobs' out.",
        )
    return frozenset(parameters.keys() - supported)


def ignored_header(names: Collection[str]) -> tuple[Header, ...]:
    """Return the header that lists the ignored parameters. Long lists are truncated."""
    first = heapq.nsmallest(MOST_NAMES, names)
    # Clients choose the names, so they can contain line breaks and separators.
    safe = sorted({_unsafe.sub("_", name[:LONGEST_NAME]) or "_" for name in first})
    value = ", ".join(safe)
    if len(value) > LONGEST_HEADER:
        value = f"{value[:LONGEST_HEADER].rpartition(', ')[0]}, ..."
    return ((IGNORED_HEADER, value.encode()),)


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


def offered(specs: Mapping[str, ToolSpec], allowed: Collection[str]) -> Mapping[str, ToolSpec]:
    """Return the tools that the model may call for this answer, as listed in `allowed`."""
    return {name: spec for name, spec in specs.items() if name in allowed}


def requires_client_tool(choice: str | Mapping[str, Any] | None, external: Collection[str]) -> bool:
    """Return True if `choice`, in the format of a `ModelRequest`, forces the model to call one of
    the client's tools.
    """
    if isinstance(choice, Mapping):
        return choice["function"]["name"] in external
    return choice == "required" and bool(external)
