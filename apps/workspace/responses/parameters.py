"""Parameters of a completion request as fields of the Responses API."""

from collections.abc import Mapping
from typing import Any

from apps.workspace.services.request_bodies import log_left_out

SAME = frozenset(
    {
        "access_programs",
        "context_management",
        "image",
        "max_tool_calls",
        "metadata",
        "moderation",
        "parallel_tool_calls",
        "prompt",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "safety_identifier",
        "service_tier",
        "temperature",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
    }
)
"""Fields that are named and written as the parameter is."""
LIMITS = ("max_output_tokens", "max_completion_tokens", "max_tokens")
"""Names of one limit, the first one wins."""
READ = frozenset(
    {
        *LIMITS,
        "include",
        "logprobs",
        "reasoning",
        "reasoning_effort",
        "response_format",
        "stream_options",
        "text",
        "tool_choice",
        "verbosity",
    }
)
"""Parameters that become another field."""
SUPPORTED = SAME | READ
OURS = frozenset({"input", "instructions", "model", "store", "stream", "tools"})
"""Written by the request itself, whatever a parameter says."""
THOUGHTS = "reasoning.encrypted_content"
LOGPROBS = "message.output_text.logprobs"


def body_fields(parameters: Mapping[str, Any], model: str) -> dict[str, Any]:
    """The fields of a request body, without those that `OURS` names.

    A parameter that is null is left to the service. Parameters that the API does not have are left
    out, which is logged once for each `model`.
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    for name in sorted(given.keys() - SUPPORTED - OURS):
        log_left_out(model, name)
    limits = [given[name] for name in LIMITS if name in given]
    fields = {
        **{name: value for name, value in given.items() if name in SAME},
        "max_output_tokens": limits[0] if limits else None,
        "tool_choice": tool_choice(given.get("tool_choice")),
        "reasoning": reasoning(given),
        "text": text_form(given),
        "stream_options": stream_options(given.get("stream_options")),
        "include": included(given),
    }
    return {name: value for name, value in fields.items() if value not in (None, {}, [])}


def reasoning(given: Mapping[str, Any]) -> dict[str, Any]:
    """`reasoning_effort` asks for a summary of the thoughts too; `reasoning` overrides both."""
    effort = given.get("reasoning_effort")
    wanted: dict[str, Any] = {} if effort is None else {"effort": effort}
    if effort not in (None, "none"):
        wanted["summary"] = "auto"
    own = given.get("reasoning")
    wanted |= own if isinstance(own, Mapping) else {}
    return {name: value for name, value in wanted.items() if value is not None}


def included(given: Mapping[str, Any]) -> list[str]:
    """Names of data that the service is to add to its answer; a model that does not think refuses `THOUGHTS`."""
    own = given.get("include")
    wanted = [name for name in own if isinstance(name, str)] if isinstance(own, list) else []
    if reasoning(given).get("effort", "none") != "none":
        wanted.append(THOUGHTS)
    if given.get("logprobs") is True:
        wanted.append(LOGPROBS)
    return list(dict.fromkeys(wanted))


def text_form(given: Mapping[str, Any]) -> dict[str, Any]:
    own = given.get("text")
    wanted = dict(own) if isinstance(own, Mapping) else {}
    if (form := given.get("response_format")) is not None:
        wanted["format"] = flattened(form, "json_schema")
    if (verbosity := given.get("verbosity")) is not None:
        wanted["verbosity"] = verbosity
    return wanted


def tool_choice(choice: Any) -> Any:
    if not isinstance(choice, Mapping) or choice.get("type") != "allowed_tools":
        return flattened(choice, "function", "custom")
    flat = flattened(choice, "allowed_tools")
    tools = flat.get("tools")
    if isinstance(tools, (list, tuple)):
        flat["tools"] = [flattened(tool, "function", "custom") for tool in tools]
    return flat


def flattened(written: Any, *kinds: str) -> Any:
    """`{"type": kind, kind: {…}}` with the inner fields beside the type; others as they are."""
    if not isinstance(written, Mapping):
        return written
    kind = written.get("type")
    inner = written.get(kind) if kind in kinds else None
    return {"type": kind, **inner} if isinstance(inner, Mapping) else dict(written)


def stream_options(options: Any) -> dict[str, Any]:
    """Usage comes in any case, and the API refuses to be asked for it."""
    if not isinstance(options, Mapping):
        return {}
    return {name: value for name, value in options.items() if name != "include_usage"}
