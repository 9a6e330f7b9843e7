"""Sends requests with JSON to model services. Each event loop has one client per service."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import unquote_plus

import msgspec

from apps import tracing
from apps.errors import BadRequest
from apps.manifest.secrets import reads_as_credential
from apps.manifest.servers import query_pairs
from apps.process_state import loop_object, on_reset
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.sdk_clients import URL
from apps.workspace.egress.transport import HttpEndpoint, Limits, StreamedResponse, StreamTransport
from apps.workspace.services.failures import failure_of_refusal

CONNECT_SECONDS = 5.0
WRITE_SECONDS = 30.0
CALL_SECONDS = 3600.0
"""The total timeout for a request in seconds, even if data is still arriving. A tool that calls a
deployment has the same timeout: one hour.
"""
MOST_ERROR_BYTES = 1024 * 1024

AGENT = "QuickApps"
MOST_CLIENTS = 1_000

Headers = tuple[tuple[str, str], ...]
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelService:
    """A model service at a base URL. It is hashable, so that clients can be cached by service."""

    base_url: str
    """The URL of the API, including the version. It may contain a query."""
    path: str
    """The path after the version."""
    headers: Headers = field(default=(), repr=False)
    """The headers that are sent with each request, including the credentials."""

    def credentials(self) -> list[str]:
        """Return the credentials in the URL and the headers, which are masked if the service
        repeats them.
        """
        pairs = [pair.partition("=") for pair in query_pairs(self.base_url)]
        named = [*self.headers, *((name, unquote_plus(value)) for name, _, value in pairs)]
        return [value.rpartition(" ")[2] for name, value in named if reads_as_credential(name)]

    async def ask(self, content: bytes, idle_seconds: float) -> StreamedResponse:
        """Send a request. Raises the same errors as `ServiceClient.ask`, and `InvalidURL`."""
        return await find_client(self).ask(content, idle_seconds)

    def endpoint(self) -> HttpEndpoint:
        """Return the URL and the headers for requests. Raises `InvalidURL`, and the HTTP client's
        errors for values that cannot be sent.
        """
        place = URL(self.base_url)
        path, mark, query = place.raw_path.partition(b"?")
        endpoint = self.path.encode("ascii")
        mark = b"&" if mark and b"?" in endpoint else mark
        raw_path = path.rstrip(b"/") + b"/" + endpoint + mark + query
        headers = {
            "Host": place.netloc.decode("ascii"),
            "Accept": "text/event-stream",
            "Accept-Encoding": "identity",
            "Connection": "keep-alive",
            "Content-Type": "application/json",
            "User-Agent": AGENT,
            **dict(self.headers),
        }
        encoded = [(name.encode("latin-1"), value.encode()) for name, value in headers.items()]
        return HttpEndpoint.of(place.copy_with(raw_path=raw_path, fragment=None), encoded)


class ServiceClient:
    """A client for one service. It does not retry, because only the run can decide whether a
    request may be sent twice.
    """

    def __init__(self, service: ModelService) -> None:
        """Create a client. Raises the same errors as `ModelService.endpoint`."""
        self.transport = StreamTransport(Trust.OPERATOR)
        self.endpoint = service.endpoint()

    async def ask(self, content: bytes, idle_seconds: float) -> StreamedResponse:
        """Send a POST request. `idle_seconds` is the read timeout.

        Raises `ModelFailed` if the status is not 2xx, the errors of the HTTP client, and
        `EgressRefused`.
        """
        return await self.send(content, idle_seconds, "POST")

    async def fetch(self, idle_seconds: float) -> StreamedResponse:
        """Send a GET request to the service's URL. Raises the same errors as `ask`."""
        return await self.send(b"", idle_seconds, "GET")

    async def send(self, content: bytes, idle_seconds: float, method: str) -> StreamedResponse:
        """Send a request with any method. Raises the same errors as `ask`."""
        limits, headers = call_limits(idle_seconds), tracing.headers()
        answer = await self.transport.send(self.endpoint, content, limits, headers, method)
        if answer.is_success:
            return answer
        raise failure_of_refusal(answer, await answer.body.read_refusal(MOST_ERROR_BYTES))

    async def aclose(self) -> None:
        await self.transport.aclose()


def find_client(service: ModelService) -> ServiceClient:
    """Return the running event loop's client for a service. Raises the same errors as
    `ModelService.endpoint`.
    """
    return loop_object(ClientCache, ClientCache).find(service)


class ClientCache:
    """The most recently used clients of one event loop. There may be many, because each user can
    have a separate key.
    """

    def __init__(self) -> None:
        self.clients: dict[ModelService, ServiceClient] = {}

    def find(self, service: ModelService) -> ServiceClient:
        """Return the cached client for a service, or create one. Raises the same errors as
        `ModelService.endpoint`.
        """
        client = self.clients.pop(service, None) or ServiceClient(service)
        self.clients[service] = client
        if len(self.clients) > MOST_CLIENTS:
            # The connections of an evicted client close when they are idle.
            del self.clients[next(iter(self.clients))]
        return client

    async def aclose(self) -> None:
        while self.clients:
            await self.clients.popitem()[1].aclose()


def call_limits(idle_seconds: float) -> Limits:
    return {
        "connect": CONNECT_SECONDS,
        "read": idle_seconds,
        "write": WRITE_SECONDS,
        "total": CALL_SECONDS,
    }


def encode_body(fields: Mapping[str, Any]) -> bytes:
    """Encode the fields of a request as JSON. Raises `BadRequest` for text that is not Unicode."""
    try:
        return msgspec.json.encode(fields, enc_hook=as_dict)
    except UnicodeEncodeError as error:
        raise BadRequest(
            "Text that is not Unicode",
            "A message contains invalid Unicode. Remove the invalid characters, and send it again.",
        ) from error


def as_dict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON.")


@lru_cache(maxsize=1024)  # A process logs each parameter once.
def log_left_out(model: str, name: str) -> None:
    logger.warning(
        "%s was called without %r, because its service does not support it.", model, name
    )


on_reset(log_left_out.cache_clear)
