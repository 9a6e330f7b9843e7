"""The SDK's clients, one for each service and event loop, and the requests that they send."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import openai
from django.conf import settings

from apps import tracing
from apps.agent.messages import Message, to_dict
from apps.agent.model import ModelRequest
from apps.errors import BadRequest
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.per_loop import shared
from apps.workspace.egress.sdk_clients import (
    URL,
    HTTPError,
    Request,
    Response,
    Timeout,
    make_stream_client,
)
from apps.workspace.egress.transport import Limits, StreamedResponse, Template
from apps.workspace.openai.chunks import REASONING_KEYS

COMPLETIONS = "chat/completions"
CONNECT_SECONDS = 5.0
WRITE_SECONDS = 30.0
ERROR_SECONDS = 10.0
"""For reading the body of a refusal."""


@dataclass(frozen=True, slots=True)
class Service:
    """An endpoint with its credentials; hashable, so that clients are found by it."""

    base_url: str
    api_key: str = field(default="", repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    async def ask(self, content: bytes, idle_seconds: float) -> StreamedResponse:
        """Raises as `ServiceClient.ask`, and `InvalidURL`."""
        return await find_client(self).ask(content, idle_seconds)


class ServiceClient(openai.AsyncOpenAI):
    """The SDK's client, with nothing read from the environment and no retries: the run retries."""

    def __init__(self, service: Service) -> None:
        """Raises `InvalidURL`."""
        place = URL(service.base_url)
        self.plain_headers = {
            "Accept": "text/event-stream",
            "Content-Type": "application/json",
            "User-Agent": "QuickApps",
            **dict(service.headers),
        }
        self.query = dict(place.params)
        self.template: Template | None = None
        self.client = make_stream_client(Trust.OPERATOR)
        super().__init__(
            base_url=place.copy_with(query=None, fragment=None),
            default_query={**self.query},
            api_key=service.api_key,
            admin_api_key="",
            organization="",
            project="",
            webhook_secret="",
            max_retries=0,
            timeout=Timeout(None, connect=CONNECT_SECONDS),
            http_client=self.client,
        )

    @property
    def default_headers(self) -> dict[str, str | openai.Omit]:
        return {**self.plain_headers}

    async def ask(self, content: bytes, idle_seconds: float) -> StreamedResponse:
        """Ask for a completion; `idle_seconds` limit the wait between two reads of the answer.

        Raises `openai.APIStatusError` for an answer that is not 2xx, the HTTP client's errors, and
        `EgressRefused`.
        """
        if self.template is None:
            self.template = Template.of(self.sdk_request())
        answer = await self.client.stream_transport.post(
            self.template, tracing.headers(), content, call_limits(idle_seconds)
        )
        if 200 <= answer.status < 300:
            return answer
        raise await self.refusal(answer)

    def sdk_request(self) -> Request:
        """The request that the SDK would send, without body and time-out."""
        headers = {**self.auth_headers, **self.plain_headers, "X-Stainless-Retry-Count": "0"}
        url = self.base_url.join(COMPLETIONS)
        return self.client.build_request(
            "POST", url, params=self.query, headers=headers, content=b""
        )

    async def refusal(self, answer: StreamedResponse) -> openai.APIStatusError:
        """The SDK's error with the body of the answer, if it could be read."""
        body = b""
        try:
            async with asyncio.timeout(ERROR_SECONDS), aclosing(answer.body):
                body = b"".join([piece async for piece in answer.body])
        except (HTTPError, TimeoutError):
            pass
        response = Response(
            answer.status, headers=answer.headers, content=body, request=self.sdk_request()
        )
        return openai.APIStatusError(
            f"Error code: {answer.status}", response=response, body=error_object(body)
        )

    async def aclose(self) -> None:
        await self.close()


def error_object(body: bytes) -> object:
    """The error in a body, unwrapped as the SDK does it; None for a body that is not JSON."""
    try:
        written = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return written.get("error", written) if isinstance(written, dict) else written


def find_client(service: Service) -> ServiceClient:
    """Raises `InvalidURL`."""
    return shared(service, lambda: ServiceClient(service))


def call_limits(idle_seconds: float) -> Limits:
    return {
        "connect": CONNECT_SECONDS,
        "read": idle_seconds,
        "write": WRITE_SECONDS,
        "total": settings.MODEL_CALL_SECONDS,
    }


def encode_request(request: ModelRequest, model: str, *, dial: bool) -> bytes:
    """The JSON body of a request; only DIAL gets `custom_content`.

    The request's `parameters` do not override our keys, but `stream_options: null` leaves that key
    out, for services that refuse it. Raises `BadRequest` for text that is not Unicode.
    """
    body = dict(request.parameters)
    options = body.pop("stream_options", {})
    body["model"] = model
    body["messages"] = [message_fields(message, dial=dial) for message in request.messages]
    body["stream"] = True
    if options is not None:
        body["stream_options"] = {"include_usage": True, **options}
    tools = [*(spec.written for spec in request.tools), *request.static_tools]
    if tools:
        body["tools"] = tools
    try:
        return msgspec.json.encode(body, enc_hook=as_dict)
    except UnicodeEncodeError as error:
        raise BadRequest(
            "Text that is not Unicode", "A message contains half of a character; send it again."
        ) from error


def message_fields(message: Message, *, dial: bool) -> dict[str, Any]:
    """A model gets its own state at the top level, where it wrote it, and its reasoning as fields."""
    thoughts, own = message.thoughts, message.model_state
    if thoughts is None and not own:
        fields = to_dict(message)
    else:
        state = {**message.state, **own}
        fields = to_dict(replace(message, state=state, thoughts=None, model_state={}))
    if thoughts is not None:
        fields |= {name: thoughts.parts[name] for name in REASONING_KEYS if name in thoughts.parts}
    if not dial:
        fields.pop("custom_content", None)
    return fields


def as_dict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON.")
