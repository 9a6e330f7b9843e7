"""Parses and validates the requests of the Messages API. Unknown keys are ignored, because clients
send keys from beta versions.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from django.conf import settings
from msgspec import Meta, Struct

from apps.doors.bodies import NamedUnknown, check_depth, decode_body, invalid
from apps.doors.client_conversation import Object

EFFORTS = {"low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}
"""Maps the Messages API's effort levels to the reasoning efforts of the chat completions API."""
SHOWN = ("enabled", "adaptive")


class Thinking(Struct):
    type: str
    display: str | None = None


class OutputOptions(Struct):
    effort: str | None = None
    format: Object | None = None


class MessageMetadata(Struct):
    user_id: str | None = None


class RequestMessage(Struct):
    role: Literal["user", "assistant", "system"]
    content: str | list[Object]


class CountRequest(Struct, forbid_unknown_fields=True):
    messages: list[RequestMessage]
    model: str | None = None
    system: str | list[Object] | None = None
    tools: list[Object] | None = None
    tool_choice: Object | None = None
    thinking: Thinking | None = None
    output_config: OutputOptions | None = None


class MessageRequest(CountRequest, forbid_unknown_fields=True, kw_only=True):
    max_tokens: Annotated[int, Meta(ge=1)]
    stream: bool | None = None
    temperature: Annotated[float, Meta(ge=0, le=1)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    top_k: Annotated[int, Meta(ge=0)] | None = None
    stop_sequences: list[str] | None = None
    metadata: MessageMetadata | None = None

    @property
    def shows_thinking(self) -> bool:
        thinking = self.thinking
        return thinking is not None and thinking.type in SHOWN and thinking.display != "omitted"


class CountWithUnknown(CountRequest, forbid_unknown_fields=False):
    pass


class MessageWithUnknown(MessageRequest, forbid_unknown_fields=False):
    pass


_decode = NamedUnknown[MessageRequest](MessageRequest, MessageWithUnknown).decode
_decode_count = NamedUnknown[CountRequest](CountRequest, CountWithUnknown).decode


def read_request(body: bytes) -> tuple[MessageRequest, frozenset[str]]:
    """Parse a request for a message, and return it with the names of its unknown parameters. Raises
    `BadRequest` if it is invalid.
    """
    request, unknown = decode_body(body, _decode)
    check(request, body)
    return request, unknown


def read_count_request(body: bytes) -> CountRequest:
    """Parse a request for a token count. Raises `BadRequest` if it is invalid."""
    request, _ = decode_body(body, _decode_count)
    check(request, body)
    return request


def check(request: CountRequest, body: bytes) -> None:
    if not request.messages:
        raise invalid("messages", "Send at least one message.")
    if len(request.messages) > settings.GATEWAY_MAX_MESSAGES:
        raise invalid(
            "messages", f"Too many messages; the limit is {settings.GATEWAY_MAX_MESSAGES}."
        )
    values = [request.system, request.tools, request.messages]
    check_depth(body, values, settings.GATEWAY_MAX_DEPTH, level=2)


def parameters_of(request: MessageRequest) -> dict[str, Any]:
    """Return the request's parameters under their names in the chat completions API."""
    found = {
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stop": request.stop_sequences or None,
        "user": None if request.metadata is None else request.metadata.user_id,
        "parallel_tool_calls": is_parallel(request.tool_choice),
    }
    return {name: value for name, value in found.items() if value is not None}


def is_parallel(choice: Mapping[str, Any] | None) -> bool | None:
    disabled = None if choice is None else choice.get("disable_parallel_tool_use")
    return None if disabled is None else not disabled


def effort_of(request: MessageRequest) -> str:
    """Return the reasoning effort in chat completions terms, or "" if the request sets none."""
    options = request.output_config
    return EFFORTS.get(options.effort or "", "") if options is not None else ""


def response_format(request: MessageRequest) -> Object | None:
    """Return the requested JSON Schema in the format of the chat completions API, or None for plain
    text. Raises `BadRequest` if the request's format is invalid.
    """
    form = None if request.output_config is None else request.output_config.format
    match form:
        case None:
            return None
        case {"type": "json_schema", "schema": dict(schema)}:
            described = {"name": "answer", "schema": schema, "strict": True}
            return {"type": "json_schema", "json_schema": described}
        case _:
            raise invalid("output_config.format", "Use {'type': 'json_schema', 'schema': {…}}.")
