"""A model behind a service, whatever API it speaks: asked, and its answer read as it comes."""

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from opentelemetry.trace import SpanKind

from apps import tracing
from apps.agent.model import Delta, ModelRequest
from apps.agent.sent_request import SentRequest
from apps.errors import EgressRefused, ModelFailed
from apps.workspace.egress.sdk_clients import HTTPError, InvalidURL
from apps.workspace.egress.transport import Body, StreamedResponse, TooLarge
from apps.workspace.services.event_stream import MOST_EVENT_BYTES, EventDecoder, EventReader
from apps.workspace.services.failures import (
    failure_of_break,
    failure_of_connection,
    without_credentials,
)

MOST_BYTES = 32 * 1024 * 1024
"""Of an answer in one piece."""


class AskedService(Protocol):
    def credentials(self) -> Iterable[str]:
        """Return the credentials, which are hidden if the service repeats them."""
        ...

    async def ask(self, content: bytes, idle_seconds: float) -> StreamedResponse:
        """A 2xx answer to a request body; `idle_seconds` limit the wait between two reads.

        Raises `ModelFailed`, the HTTP client's errors, and `EgressRefused`.
        """
        ...


@dataclass(frozen=True, slots=True)
class Api:
    """How requests are written and answers read.

    `encode` makes the body of a request and raises `BadRequest`; `make_reader` is called for each
    answer that is streamed; `read_whole` reads one in one piece and raises `ModelFailed`.
    """

    encode: Callable[[ModelRequest], bytes]
    make_reader: Callable[[], EventReader]
    read_whole: Callable[[bytes], list[Delta]]
    most_event_bytes: int = MOST_EVENT_BYTES


S = TypeVar("S", bound=AskedService)


@dataclass(frozen=True, slots=True)
class ServiceModel(Generic[S]):
    """`name` is the model's name at the service.

    `idle_seconds` is how long the service may be silent, also before its first token.
    """

    service: S
    name: str
    api: Api
    idle_seconds: float

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Ask the model; yield the deltas of each network read. Raises `ModelFailed`.

        Closing the generator closes the upstream connection.
        """
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": self.name}
        with (
            masking(self.service),
            tracing.detached(f"chat {self.name}", attributes, SpanKind.CLIENT) as span,
        ):
            with tracing.within(span):
                body, is_whole = await self.open(self.encoded(request))
            async with aclosing(body):
                if is_whole:
                    yield self.api.read_whole(await read_all(body))
                    return
                reader = self.api.make_reader()
                decoder = EventDecoder(reader, self.api.most_event_bytes)
                is_ending = False
                while not reader.is_done:
                    data = await read(body)
                    deltas = decoder.feed(data) if data else decoder.end()
                    if deltas:
                        yield deltas
                    if reader.has_finished and not is_ending:
                        is_ending = True
                        body.end_within(self.idle_seconds)  # only the usage is still to come
                    if decoder.failure is not None:
                        raise decoder.failure
                    if not data:
                        check_end(decoder)
                        return
                check_end(decoder)
                await body.end()

    def encoded(self, request: ModelRequest) -> bytes:
        """The body of the request, of which the meter hears."""
        content = self.api.encode(request)
        if request.meter.keeps_requests:
            prompt = tuple(request.prompt)
            request.meter.request_sent(SentRequest(self.name, content, prompt, request.private))
        return content

    def write(self, request: ModelRequest) -> bytes:
        return self.api.encode(request)

    async def open(self, content: bytes) -> tuple[Body, bool]:
        """The body of the answer, and whether it is one piece of JSON. Raises `ModelFailed`."""
        # Nothing else of request and answer stays in memory while the model writes.
        try:
            answer = await self.service.ask(content, self.idle_seconds)
        except (HTTPError, InvalidURL, EgressRefused) as error:
            raise failure_of_connection(error) from error
        kind = answer.header(b"content-type")
        if kind.startswith(b"text/html"):
            await answer.body.aclose()
            raise ModelFailed(
                "The model's service sent a web page: its address may be that of another service.",
                reason="unreadable",
            )
        return answer.body, kind.startswith(b"application/json")


@contextmanager
def masking(service: AskedService) -> Iterator[None]:
    """Mask the service's credentials in a failure of the block."""
    try:
        yield
    except ModelFailed as failure:
        failure.said = without_credentials(failure.said, service.credentials())
        raise


async def read(body: Body) -> bytes:
    """The bytes that have arrived; b"" at the end. Raises `ModelFailed`."""
    try:
        return await body.read_piece()
    except HTTPError as error:
        raise failure_of_break(error) from error


async def read_all(body: Body) -> bytes:
    """Raises `ModelFailed`."""
    try:
        return await body.read(MOST_BYTES)
    except HTTPError as error:
        raise failure_of_break(error) from error
    except TooLarge as error:
        raise ModelFailed(
            "The model's service sent too large an answer.", reason="stream"
        ) from error


def check_end(decoder: EventDecoder) -> None:
    """Raises `ModelFailed` when the answer has not finished, or nothing of it was understood."""
    reader = decoder.reader
    if reader.has_finished:
        return
    if decoder.has_events and not reader.has_understood:
        raise ModelFailed(
            "The model's service sent a stream without an answer that is understood.",
            reason="unreadable",
        )
    if not reader.is_done:
        raise failure_of_break()
