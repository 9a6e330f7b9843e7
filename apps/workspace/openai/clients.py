"""The SDK's clients, one for each service and event loop, and the requests that they send."""

from collections.abc import Mapping
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
from apps.workspace.egress.sdk_clients import URL, Timeout, make_sdk_client
from apps.workspace.egress.transport import Endpoint, Limits, StreamedResponse, StreamTransport
from apps.workspace.openai.chunks import REASONING_KEYS
from apps.workspace.openai.failures import failure_of_refusal

COMPLETIONS = "chat/completions"
CONNECT_SECONDS = 5.0
WRITE_SECONDS = 30.0
MOST_ERROR_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Service:
    """An endpoint with its credentials; hashable, so that clients are found by it."""

    base_url: str
    api_key: str = field(default="", repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    path: str = COMPLETIONS

    async def ask(self, content: bytes, idle_seconds: float) -> StreamedResponse:
        """Raises as `ServiceClient.ask`, and `InvalidURL`."""
        return await find_client(self).ask(content, idle_seconds)


class ServiceClient(openai.AsyncOpenAI):
    """The SDK's client, with nothing read from the environment and no retries: the run retries."""

    def __init__(self, service: Service) -> None:
        """Raises `InvalidURL`, and the HTTP client's errors for what cannot be sent."""
        place = URL(service.base_url)
        self.plain_headers = {
            "Accept": "text/event-stream",
            "Content-Type": "application/json",
            "User-Agent": "QuickApps",
            **dict(service.headers),
        }
        self.transport = StreamTransport(Trust.OPERATOR)
        client = make_sdk_client(self.transport, {"Accept-Encoding": "identity"})
        super().__init__(
            base_url=place.copy_with(query=None, fragment=None),
            default_query=dict(place.params),
            api_key=service.api_key,
            admin_api_key="",
            organization="",
            project="",
            webhook_secret="",
            max_retries=0,
            timeout=Timeout(None, connect=CONNECT_SECONDS),
            http_client=client,
        )
        # The request that the SDK would send, without body and time-out.
        headers = {**self.auth_headers, **self.plain_headers, "X-Stainless-Retry-Count": "0"}
        url = self.base_url.join(service.path)
        request = client.build_request("POST", url, params=dict(place.params), headers=headers)
        del request.headers["content-length"]
        self.endpoint = Endpoint.of(request.url, request.headers.raw)

    @property
    def default_headers(self) -> dict[str, str | openai.Omit]:
        return {**self.plain_headers}

    async def ask(self, content: bytes, idle_seconds: float) -> StreamedResponse:
        """Post a request; `idle_seconds` limit the wait between two reads of the answer.

        Raises `ModelFailed` for an answer that is not 2xx, the HTTP client's errors, and
        `EgressRefused`.
        """
        limits = call_limits(idle_seconds)
        answer = await self.transport.send(self.endpoint, content, limits, tracing.headers())
        if answer.is_success:
            return answer
        raise failure_of_refusal(answer, await answer.body.read_refusal(MOST_ERROR_BYTES))

    async def aclose(self) -> None:
        await self.close()


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
