"""Converts the parameters of a completion request to fields of the Responses API."""

from collections.abc import Mapping
from typing import Any

from apps.workspace.services.client import log_left_out

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
"""Parameters that are sent unchanged."""
LIMITS = ("max_output_tokens", "max_completion_tokens", "max_tokens")
"""The parameters that limit the length of the output. The first one that is set is used."""
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
"""The parameters that are converted to other fields."""
SUPPORTED = SAME | READ
OURS = frozenset({"input", "instructions", "model", "store", "stream", "tools"})
"""The fields that the request itself sets. Parameters with these names are ignored."""
THOUGHTS = "reasoning.encrypted_content"
LOGPROBS = "message.output_text.logprobs"


def body_fields(parameters: Mapping[str, Any], model: str) -> dict[str, Any]:
    """Return the request parameters as fields of a request body, without the fields in `OURS`.

    For a parameter that is null, the service's default applies. Parameters that the API does not
    support are omitted and logged once per `model`.
    """
    parameters = {name: value for name, value in parameters.items() if value is not None}
    for name in sorted(parameters.keys() - SUPPORTED - OURS):
        log_left_out(model, name)
    limits = [parameters[name] for name in LIMITS if name in parameters]
    fields = {
        **{name: value for name, value in parameters.items() if name in SAME},
        "max_output_tokens": limits[0] if limits else None,
        "tool_choice": tool_choice(parameters.get("tool_choice")),
        "reasoning": reasoning(parameters),
        "text": text_form(parameters),
        "stream_options": stream_options(parameters.get("stream_options")),
        "include": included_data(parameters),
    }
    return {name: value for name, value in fields.items() if value not in (None, {}, [])}


def reasoning(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `reasoning` field of a request. `reasoning_effort` also requests a summary of the
    reasoning. The `reasoning` parameter overrides both.
    """
    effort = parameters.get("reasoning_effort")
    wanted: dict[str, Any] = {} if effort is None else {"effort": effort}
    if effort not in (None, "none"):
        wanted["summary"] = "auto"
    own = parameters.get("reasoning")
    wanted |= own if isinstance(own, Mapping) else {}
    return {name: value for name, value in wanted.items() if value is not None}


def included_data(parameters: Mapping[str, Any]) -> list[str]:
    """Return the names of the data that the answer must include. `THOUGHTS` is one of them only if
    the request requires reasoning, because a model without reasoning rejects it.
    """
    own = parameters.get("include")
    wanted = [name for name in own if isinstance(name, str)] if isinstance(own, list) else []
    if reasoning(parameters).get("effort", "none") != "none":
        wanted.append(THOUGHTS)
    if parameters.get("logprobs") is True:
        wanted.append(LOGPROBS)
    return list(dict.fromkeys(wanted))


def text_form(parameters: Mapping[str, Any]) -> dict[str, Any]:
    own = parameters.get("text")
    wanted = dict(own) if isinstance(own, Mapping) else {}
    if (form := parameters.get("response_format")) is not None:
        wanted["format"] = flatten_choice(form, "json_schema")
    if (verbosity := parameters.get("verbosity")) is not None:
        wanted["verbosity"] = verbosity
    return wanted


def tool_choice(choice: Any) -> Any:
    if not isinstance(choice, Mapping) or choice.get("type") != "allowed_tools":
        return flatten_choice(choice, "function", "custom")
    flat = flatten_choice(choice, "allowed_tools")
    tools = flat.get("tools")
    if isinstance(tools, (list, tuple)):
        flat["tools"] = [flatten_choice(tool, "function", "custom") for tool in tools]
    return flat


def flatten_choice(written: Any, *kinds: str) -> Any:
    """Return a choice such as `{"type": kind, kind: {…}}` in the form `{"type": kind, …}`, if its
    type is one of `kinds`. Any other value remains unchanged.
    """
    if not isinstance(written, Mapping):
        return written
    kind = written.get("type")
    inner = written.get(kind) if kind in kinds else None
    return {"type": kind, **inner} if isinstance(inner, Mapping) else dict(written)


def stream_options(options: Any) -> dict[str, Any]:
    """Return the stream options without `include_usage`, because the API always sends the usage and
    rejects this option.
    """
    if not isinstance(options, Mapping):
        return {}
    return {name: value for name, value in options.items() if name != "include_usage"}
