"""A model behind an OpenAI-compatible service.

The SDK makes the request and classifies failures. The stream is read here: the SDK's typed stream
spends more on one token than a run does on a hundred.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from django.conf import settings
from opentelemetry.trace import SpanKind

from apps import tracing
from apps.agent.model import Delta, ModelRequest
from apps.errors import EgressRefused
from apps.workspace.egress.sdk_clients import HTTPError, InvalidURL
from apps.workspace.egress.transport import Body, StreamedResponse
from apps.workspace.openai.clients import Service, encode_request
from apps.workspace.openai.completions import read_completion
from apps.workspace.openai.events import EventDecoder
from apps.workspace.openai.failures import failure_of_break, failure_of_connection


class CompletionService(Protocol):
    async def ask(self, content: bytes, idle_seconds: float) -> StreamedResponse:
        """A 2xx answer to a request body; `idle_seconds` limit the wait between two reads.

        Raises `ModelFailed`, the HTTP client's errors, and `EgressRefused`.
        """
        ...


S = TypeVar("S", bound=CompletionService)


@dataclass(frozen=True, slots=True)
class OpenAIModel(Generic[S]):
    """`name` is the model's name at the service; `dial` lets `custom_content` through.

    `idle_seconds` is how long the service may be silent, also before its first token.
    """

    service: S
    name: str
    dial: bool
    idle_seconds: float

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Ask the model; yield the deltas of each network read. Raises `ModelFailed`.

        Closing the generator closes the upstream connection.
        """
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": self.name}
        with tracing.detached(f"chat {self.name}", attributes, SpanKind.CLIENT) as span:
            with tracing.within(span):
                body, is_whole = await self.open(encode_request(request, self.name, dial=self.dial))
            async with aclosing(body):
                if is_whole:
                    yield await read_completion(body)
                    return
                decoder = EventDecoder()
                is_ending = False
                while not decoder.is_done:
                    data = await read(body)
                    deltas = decoder.feed(data) if data else decoder.end()
                    if deltas:
                        yield deltas
                    if decoder.has_finished and not is_ending:
                        is_ending = True
                        body.end_within(self.idle_seconds)  # only the usage is still to come
                    if decoder.failure is not None:
                        raise decoder.failure
                    if not data:
                        check_end(decoder)
                        return
                await body.end()

    async def open(self, content: bytes) -> tuple[Body, bool]:
        """The body of the answer, and whether it is one piece of JSON. Raises `ModelFailed`."""
        # Nothing else of request and answer stays in memory while the model writes.
        try:
            answer = await self.service.ask(content, self.idle_seconds)
        except (HTTPError, InvalidURL, EgressRefused) as error:
            raise failure_of_connection(error) from error
        return answer.body, answer.header(b"content-type").startswith(b"application/json")


async def read(body: Body) -> bytes:
    """The bytes that have arrived; b"" at the end. Raises `ModelFailed`."""
    try:
        return await body.read_piece()
    except HTTPError as error:
        raise failure_of_break(error) from error


def check_end(decoder: EventDecoder) -> None:
    """Raises `ModelFailed` when the answer has not finished."""
    if not decoder.is_done and not decoder.has_finished:
        raise failure_of_break()


def make_service(
    base_url: str, api_key: str, *, dial: bool, headers: Mapping[str, str] | None = None
) -> Service:
    """DIAL reads the key in a header of its own, and refuses a request that has a bearer token too."""
    sent = dict(headers or {})
    if dial and api_key:
        sent["Api-Key"], api_key = api_key, ""
    return Service(base_url, api_key, tuple(sorted(sent.items())))


def make_model(
    *,
    base_url: str,
    api_key: str,
    model: str,
    dial: bool = False,
    headers: Mapping[str, str] | None = None,
    idle_seconds: float | None = None,
) -> OpenAIModel[Service]:
    """`base_url` ends with the version; `idle_seconds` defaults to a tool's time-out."""
    return OpenAIModel(
        service=make_service(base_url, api_key, dial=dial, headers=headers),
        name=model,
        dial=dial,
        idle_seconds=idle_seconds or settings.DEFAULT_TOOL_TIMEOUT_SECONDS,
    )
