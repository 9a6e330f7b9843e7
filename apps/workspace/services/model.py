"""Streams answers from a service's models, through any supported API."""

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from opentelemetry.trace import SpanKind

from apps import tracing
from apps.agent.meter import SentRequest
from apps.agent.model import Delta, ModelRequest
from apps.errors import EgressRefused, ModelFailed
from apps.workspace.egress.sdk_clients import HTTPError, InvalidURL
from apps.workspace.egress.transport import Body, ResponseTooLarge, StreamedResponse
from apps.workspace.services.event_stream import (
    MOST_EVENT_BYTES,
    EventDecoder,
    EventReader,
    speaks,
)
from apps.workspace.services.failures import (
    failure_of_break,
    failure_of_connection,
    failure_of_empty_answer,
    mask_and_cut,
)

MOST_BYTES = 32 * 1024 * 1024
"""The maximum size in bytes of an answer that is not streamed."""


class CompletionService(Protocol):
    def credentials(self) -> Iterable[str]:
        """Return the service's credentials, which are masked if the service repeats them."""
        ...

    async def ask(self, content: bytes, idle_seconds: float) -> StreamedResponse:
        """Send a request, and return the response. `idle_seconds` is the read timeout.

        Raises `ModelFailed` if the status is not 2xx, the errors of the HTTP client, and
        `EgressRefused`.
        """
        ...


def has_learned_nothing(failure: ModelFailed) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Api:
    """The functions that convert the requests and responses of one API."""

    encode: Callable[[ModelRequest], bytes]
    """Returns the body of a request. Raises `BadRequest` for text that is not Unicode."""
    make_reader: Callable[[], EventReader]
    """Returns a reader for one streamed answer."""
    read_whole: Callable[[bytes], list[Delta]]
    """Parses an answer that is not streamed. Raises `ModelFailed`."""
    most_event_bytes: int = MOST_EVENT_BYTES
    has_learned: Callable[[ModelFailed], bool] = has_learned_nothing
    """Returns True if `encode` now omits or rewrites the part of the request that the service has
    rejected.
    """


S = TypeVar("S", bound=CompletionService)


@dataclass(frozen=True, slots=True)
class ServiceModel(Generic[S]):
    service: S
    name: str
    """The service's name for the model."""
    api: Api
    idle_seconds: float
    """The read timeout in seconds, which also applies to the first token."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Call the model, and yield its answer: the deltas that each network read completes. Raises
        `ModelFailed` if the service fails. Closing the generator closes the connection to the
        service.
        """
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": self.name}
        with (
            CredentialMask(self.service),
            tracing.detached_span(f"chat {self.name}", attributes, SpanKind.CLIENT) as span,
        ):
            with tracing.within(span):
                body, is_whole = await self.send(request)
            async with aclosing(body):
                if is_whole:
                    yield self.api.read_whole(await read_all(body))
                    return
                reader = self.api.make_reader()
                decoder = EventDecoder(reader, self.api.most_event_bytes)
                has_content = is_ending = False
                while not reader.is_done:
                    try:
                        data = await body.read_chunk()
                    except HTTPError as error:
                        raise failure_of_break(error) from error
                    deltas = decoder.feed(data) if data else decoder.end()
                    if deltas:
                        has_content = has_content or speaks(deltas)
                        yield deltas
                    if reader.has_finished and not is_ending:
                        is_ending = True
                        body.end_within(self.idle_seconds)  # Only the usage can still follow.
                    if decoder.failure is not None:
                        raise decoder.failure
                    if not data:
                        check_end(decoder, has_content=has_content)
                        return
                check_end(decoder, has_content=has_content)
                await body.end()

    async def send(self, request: ModelRequest) -> tuple[Body, bool]:
        """Send the request. If the service rejects it and `has_learned` returns True, send it once
        more. Returns the same values and raises the same errors as `open`.
        """
        try:
            return await self.open(self.encoded(request))
        except ModelFailed as failure:
            if not self.api.has_learned(failure):
                raise
        return await self.open(self.encoded(request))

    def encoded(self, request: ModelRequest) -> bytes:
        """Encode the request, report it to the meter, and return its body."""
        content = self.api.encode(request)
        if request.meter.keeps_requests:
            prompt = tuple(request.prompt)
            request.meter.request_sent(SentRequest(self.name, content, prompt, request.private))
        return content

    def write(self, request: ModelRequest) -> bytes:
        return self.api.encode(request)

    async def open(self, content: bytes) -> tuple[Body, bool]:
        """Send the body of a request. Return the body of the response, and True if it is plain JSON
        instead of a stream. Raises `ModelFailed` if the service fails.
        """
        # Nothing else from the request or the response stays in memory while the model writes.
        try:
            answer = await self.service.ask(content, self.idle_seconds)
        except (HTTPError, InvalidURL, EgressRefused) as error:
            raise failure_of_connection(error) from error
        kind = answer.header(b"content-type")
        if kind.startswith(b"text/html"):
            await answer.body.aclose()
            raise ModelFailed(
                "The model's service sent a web page. Check its URL.",
                reason="unreadable",
            )
        return answer.body, kind.startswith(b"application/json")


class CredentialMask:
    """Masks the service's credentials in a `ModelFailed` that its `with` block raises."""

    # Not a generator function, because each waiting stream would keep a generator in memory.
    __slots__ = ("service",)

    def __init__(self, service: CompletionService) -> None:
        self.service = service

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, failure: BaseException | None, traceback: object) -> None:
        if isinstance(failure, ModelFailed):
            failure.said = mask_and_cut(failure.said, self.service.credentials())


async def read_all(body: Body) -> bytes:
    """Read the body to its end, and return it. Raises `ModelFailed` if the service fails or the
    body is too large.
    """
    try:
        return await body.read(MOST_BYTES)
    except HTTPError as error:
        raise failure_of_break(error) from error
    except ResponseTooLarge as error:
        raise ModelFailed(
            "The model's service sent a response that is too large.", reason="stream"
        ) from error


def check_end(decoder: EventDecoder, *, has_content: bool) -> None:
    """Raise `ModelFailed` if the answer has not finished, or if none of it could be parsed.

    Some services send no finish reason. Their answers are accepted if they have content.
    """
    reader = decoder.reader
    if reader.has_finished:
        return
    if decoder.has_events and not reader.has_understood:
        raise ModelFailed(
            "The model's service sent a stream without a readable response.",
            reason="unreadable",
        )
    if not reader.is_done:
        raise failure_of_break()
    if not has_content:
        raise failure_of_empty_answer()
