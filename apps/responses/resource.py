"""Builds the JSON of a response, with all keys in OpenAI's schema."""

import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from msgspec import Struct, field

from apps.agent.events import TokenLogprob, Usage
from apps.agent.tools import ToolSpec
from apps.doors.client_parameters import ClientTools
from apps.responses.requests import ResponseRequest

Item = dict[str, Any]


class Echo(Struct, frozen=True):
    """The ID of a response, and the request parameters that the response repeats."""

    fields: Mapping[str, Any]
    namespaces: Mapping[str, tuple[str, str]]
    """Maps the names of namespaced tools to the namespace and the name in it."""
    includes_state: bool
    """True if the client requested `reasoning.encrypted_content`."""
    id: UUID = field(default_factory=uuid4)
    created_at: int = field(default_factory=lambda: int(time.time()))


def echo_of(request: ResponseRequest, tools: ClientTools, conversation: UUID | None = None) -> Echo:
    """Return the request parameters that the response repeats. `conversation` is None if the
    response is not stored.
    """
    reasoning, text = request.reasoning, request.text
    form = None if text is None else text.format
    fields = {
        "previous_response_id": request.previous_response_id,
        **({"conversation": {"id": f"conv_{conversation.hex}"}} if conversation else {}),
        "instructions": request.instructions,
        "tools": [written_tool(spec) for spec in tools.specs.values()],
        "tool_choice": request.tool_choice or "auto",
        "truncation": request.truncation or "disabled",
        "parallel_tool_calls": request.parallel_tool_calls is not False,
        "text": {
            "format": form or {"type": "text"},
            **({"verbosity": text.verbosity} if text is not None and text.verbosity else {}),
        },
        "top_p": 1.0 if request.top_p is None else request.top_p,
        "presence_penalty": request.presence_penalty or 0,
        "frequency_penalty": request.frequency_penalty or 0,
        "top_logprobs": request.top_logprobs or 0,
        "temperature": 1.0 if request.temperature is None else request.temperature,
        "reasoning": None
        if reasoning is None
        else {"effort": reasoning.effort, "summary": reasoning.summary},
        "max_output_tokens": request.max_output_tokens,
        "max_tool_calls": request.max_tool_calls,
        "store": conversation is not None,
        "background": bool(request.background),
        "service_tier": request.service_tier or "default",
        "metadata": request.metadata or {},
        "safety_identifier": request.safety_identifier,
        "prompt_cache_key": request.prompt_cache_key,
        "user": request.user,
    }
    includes_state = "reasoning.encrypted_content" in (request.include or ())
    return Echo(fields, tools.namespaces, includes_state)


def written_tool(spec: ToolSpec) -> dict[str, Any]:
    if spec.takes_text:
        return {"type": "custom", "name": spec.name, "description": spec.description}
    return {
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
        "strict": spec.strict,
    }


class Resource:
    """The response of one run, which grows until the run ends."""

    def __init__(self, model: str, echo: Echo) -> None:
        self.echo = echo
        self.id = f"resp_{echo.id.hex}"
        self.model = model
        self.output: list[Item] = []
        self.count = 0
        self.completed_at: int | None = None
        """The time at which the response ended, in Unix seconds. None means now."""

    def next_id(self, prefix: str) -> str:
        """Return the ID of the next item: the prefix, the response's ID and a number."""
        self.count += 1
        return f"{prefix}_{self.echo.id.hex}{self.count:04x}"

    def write(self, status: str, **fields: Any) -> dict[str, Any]:
        """Return the response as JSON. `fields` override its fields."""
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.echo.created_at,
            "completed_at": (self.completed_at or int(time.time()))
            if status == "completed"
            else None,
            "status": status,
            "incomplete_details": None,
            "model": self.model,
            "output": self.output,
            "error": None,
            "usage": None,
            **self.echo.fields,
            **fields,
        }


def write_usage(usage: Usage) -> dict[str, Any] | None:
    """Return the usage as JSON, or None if no model reported its usage."""
    return counted_usage(usage) if usage.per_model else None


def counted_usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {
            "cached_tokens": usage.cached or 0,
            "cache_write_tokens": usage.created or 0,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning or 0},
        "total_tokens": usage.input + usage.output,
    }


def write_logprobs(tokens: Sequence[TokenLogprob]) -> list[dict[str, Any]]:
    return [
        {**write_token(one), "top_logprobs": [write_token(other) for other in one.likeliest]}
        for one in tokens
    ]


def write_token(one: TokenLogprob) -> dict[str, Any]:
    content = one.token.encode() if one.content is None else one.content
    return {"token": one.token, "logprob": one.logprob, "bytes": list(content)}
