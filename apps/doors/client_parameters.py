"""Selects the client's parameters that are sent to the application's model, named as in chat
completions.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from apps.catalog.resolved_application import ResolvedApplication
from apps.runs.requests import LIMITS

FORWARDED = (
    *("temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "seed"),
    *("presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs"),
    *("reasoning_effort", "verbosity", "prediction"),
)
PERMITTED = ("metadata", "service_tier", "user")
"""Parameters that the manifest must allow, because they cost money or identify a user."""
TOGETHER = "parallel_tool_calls"
PARAMETERS = (*FORWARDED, *PERMITTED, TOGETHER)


class SortedParameters(msgspec.Struct, frozen=True):
    """The client's parameters, divided into those for the model and the names of ignored
    parameters.
    """

    forwarded: Mapping[str, Any]
    ignored: frozenset[str] = frozenset()


def sort_parameters(
    sent: Mapping[str, Any], application: ResolvedApplication, *, has_functions: bool
) -> SortedParameters:
    """Select the client's parameters for the model. Parameters that the manifest sets or does not
    allow are ignored.
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
