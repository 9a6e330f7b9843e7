"""Selects the client's parameters that reach the model. All APIs use the chat completions names
here.
"""

import heapq
import re
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.bodies import invalid
from apps.doors.consumer import Header
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


class SortedParameters(msgspec.Struct, frozen=True):
    """The client's parameters that reach the model, and the names of those that are ignored."""

    forwarded: Mapping[str, Any]
    ignored: frozenset[str] = frozenset()


def sort_parameters(
    sent: Mapping[str, Any], application: ResolvedApplication, *, has_functions: bool
) -> SortedParameters:
    """Return the client's parameters that reach the model. Parameters that the manifest sets or
    does not allow are ignored. `has_functions` is True if the client sent tools.
    """
    if not sent:
        return SortedParameters(sent)
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
    if not parameters:
        return frozenset()
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
            "The model of this application does not report log probabilities. Leave 'logprobs' out.",
        )
    return frozenset(parameters.keys() - supported)


def ignored_header(names: Collection[str]) -> tuple[Header, ...]:
    """Return the header that lists the ignored parameters, or () if there are none. Long lists are
    truncated.
    """
    if not names:
        return ()
    first = heapq.nsmallest(MOST_NAMES, names)
    # Clients choose the names, so these can contain line breaks and separators.
    safe = sorted({_unsafe.sub("_", name[:LONGEST_NAME]) or "_" for name in first})
    value = ", ".join(safe)
    if len(value) > LONGEST_HEADER:
        value = f"{value[:LONGEST_HEADER].rpartition(', ')[0]}, ..."
    return ((IGNORED_HEADER, value.encode()),)
