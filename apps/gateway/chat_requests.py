"""Defines and validates the body of a chat completions request.

Unknown keys are ignored, because each DIAL release adds some. The classes are msgspec structs,
which are ten times faster than pydantic here.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from django.conf import settings
from msgspec import Meta, Struct

from apps.agent.tools import ToolSpec
from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.bodies import check_depth, decode_body, invalid
from apps.doors.client_conversation import ChatMessage, Object, check_message
from apps.errors import BadRequest

Positive = Annotated[int, Meta(ge=1)]
Penalty = Annotated[float, Meta(ge=-2, le=2)]
ToolName = Annotated[str, Meta(min_length=1, max_length=256)]
NO_PARAMETERS = {"type": "object", "properties": {}}


class RequestedFunction(Struct):
    name: ToolName
    description: str | None = None
    parameters: Object | None = None
    strict: Any = None


class RequestTool(Struct):
    type: str
    function: RequestedFunction | None = None


class ChatRequest(Struct):
    # The model's service executes tools of the type `static_function`, so they are ignored here.
    messages: list[ChatMessage]
    model: str | None = None
    stream: bool | None = False
    n: Annotated[int, Meta(ge=1, le=128)] | None = None
    tools: list[RequestTool] | None = None
    tool_choice: str | Object | None = None
    response_format: Object | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    max_tokens: Positive | None = None
    max_completion_tokens: Positive | None = None
    seed: int | None = None
    stop: str | list[str] | None = None

    @property
    def objects(self) -> list[Any]:
        """Return the values in the request that can contain arbitrary JSON. The messages are not
        included.
        """
        return [self.tools, self.tool_choice, self.response_format]


class ManyChoices(BadRequest):
    http_status = 422

    def __init__(self, slug: str) -> None:
        super().__init__(f"{slug} deployment doesn't support n > 1")


def check_choices(request: ChatRequest, application: ResolvedApplication) -> None:
    """Raise `ManyChoices` if the request asks for more than one choice (`n`)."""
    if request.n is not None and request.n > 1:
        raise ManyChoices(application.slug)


def to_specs(tools: Sequence[RequestTool]) -> dict[str, ToolSpec]:
    """Return the specifications of the client's functions by name."""
    return {
        tool.function.name: ToolSpec(
            tool.function.name,
            tool.function.description or "",
            tool.function.parameters or NO_PARAMETERS,
        )
        for tool in tools
        if tool.function is not None and tool.type == "function"
    }


R = TypeVar("R", bound=ChatRequest)


def read_request(body: bytes, decode: Callable[[bytes], R]) -> R:
    """Decode and validate a request body. Raises `BadRequest` if it is invalid."""
    request = decode_body(body, decode)
    if len(request.messages) > settings.GATEWAY_MAX_MESSAGES:
        raise invalid(
            "messages", f"Too many messages; the limit is {settings.GATEWAY_MAX_MESSAGES}."
        )
    check_request_depth(request, body)
    check_tools(request)
    for index, message in enumerate(request.messages):
        check_message(f"messages.{index}", message)
    return request


def check_request_depth(request: ChatRequest, body: bytes) -> None:
    """Raise `BadRequest` if the body is nested more deeply than `GATEWAY_MAX_DEPTH`."""
    values = request.objects
    for message in request.messages:
        values += (message.content, message.custom_content)
    # The shallowest of these values, the contents of messages, begin on the fourth level.
    check_depth(body, values, settings.GATEWAY_MAX_DEPTH, level=4)


def check_tools(request: ChatRequest) -> None:
    names = set()
    for index, tool in enumerate(request.tools or ()):
        if tool.type == "static_function":
            continue
        if tool.type != "function" or tool.function is None:
            raise invalid(
                f"tools.{index}", "Use the type 'function' or 'static_function', with its object."
            )
        if tool.function.name in names:
            raise invalid(
                f"tools.{index}.function.name",
                f"Two tools are named '{tool.function.name}'. Rename one.",
            )
        names.add(tool.function.name)
    check_choice(request.tool_choice, names)


def check_choice(choice: str | Object | None, names: set[str]) -> None:
    if isinstance(choice, str) and choice not in ("auto", "none", "required"):
        raise invalid("tool_choice", "Use 'auto', 'none', 'required' or a function.")
    if isinstance(choice, dict):
        function = choice.get("function")
        name = function.get("name") if isinstance(function, dict) else None
        if choice.get("type") != "function" or not isinstance(name, str):
            raise invalid("tool_choice", "Use {'type': 'function', 'function': {'name': …}}.")
