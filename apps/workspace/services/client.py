"""The client of a model's service, one for each service and event loop: it posts JSON as bytes."""

from dataclasses import dataclass, field
from urllib.parse import unquote_plus

from django.conf import settings

from apps import tracing
from apps.manifest.secrets import reads_as_credential
from apps.manifest.servers import query_pairs
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.per_loop import shared
from apps.workspace.egress.sdk_clients import URL
from apps.workspace.egress.transport import Endpoint, Limits, StreamedResponse, StreamTransport
from apps.workspace.services.failures import failure_of_refusal

CONNECT_SECONDS = 5.0
WRITE_SECONDS = 30.0
MOST_ERROR_BYTES = 1024 * 1024

AGENT = "QuickApps"
MOST_CLIENTS = 1_000

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Service:
    """An address with credentials in its headers; hashable, so that clients are found by it.

    `base_url` ends with the version, and may have a query; `path` is what follows the version.
    """

    base_url: str
    path: str
    headers: Headers = field(default=(), repr=False)

    def credentials(self) -> list[str]:
        """Return the credentials, which are hidden if the service repeats them."""
        pairs = [pair.partition("=") for pair in query_pairs(self.base_url)]
        named = [*self.headers, *((name, unquote_plus(value)) for name, _, value in pairs)]
        return [value.rpartition(" ")[2] for name, value in named if reads_as_credential(name)]

    async def ask(self, content: bytes, idle_seconds: float) -> StreamedResponse:
        """Raises as `ServiceClient.ask`, and `InvalidURL`."""
        return await find_client(self).ask(content, idle_seconds)

    def endpoint(self) -> Endpoint:
        """Raises `InvalidURL`, and the HTTP client's errors for what cannot be sent."""
        place = URL(self.base_url)
        path, mark, query = place.raw_path.partition(b"?")
        asked = self.path.encode("ascii")
        mark = b"&" if mark and b"?" in asked else mark
        raw_path = path.rstrip(b"/") + b"/" + asked + mark + query
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
        return Endpoint.of(place.copy_with(raw_path=raw_path, fragment=None), encoded)


class ServiceClient:
    """Repeats nothing: only the run knows whether a question may be asked twice."""

    def __init__(self, service: Service) -> None:
        """Raises as `Service.endpoint`."""
        self.transport = StreamTransport(Trust.OPERATOR)
        self.endpoint = service.endpoint()

    async def ask(self, content: bytes, idle_seconds: float) -> StreamedResponse:
        """Post a request; `idle_seconds` limit the wait between two reads of the answer.

        Raises `ModelFailed` for an answer that is not 2xx, the HTTP client's errors, and
        `EgressRefused`.
        """
        return await self.send(content, idle_seconds, "POST")

    async def fetch(self, idle_seconds: float) -> StreamedResponse:
        """Get what is at the address. Raises as `ask`."""
        return await self.send(b"", idle_seconds, "GET")

    async def send(self, content: bytes, idle_seconds: float, method: str) -> StreamedResponse:
        """Raises as `ask`."""
        limits, headers = call_limits(idle_seconds), tracing.headers()
        answer = await self.transport.send(self.endpoint, content, limits, headers, method)
        if answer.is_success:
            return answer
        raise failure_of_refusal(answer, await answer.body.read_refusal(MOST_ERROR_BYTES))

    async def aclose(self) -> None:
        await self.transport.aclose()


def find_client(service: Service) -> ServiceClient:
    """Raises as `Service.endpoint`."""
    return shared(KeptClients, KeptClients).find(service)


class KeptClients:
    """The clients of this event loop that were used last: each person may have a key of their own."""

    def __init__(self) -> None:
        self.clients: dict[Service, ServiceClient] = {}

    def find(self, service: Service) -> ServiceClient:
        """Raises as `Service.endpoint`."""
        client = self.clients.pop(service, None) or ServiceClient(service)
        self.clients[service] = client
        if len(self.clients) > MOST_CLIENTS:  # its connections close by themselves when they idle
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
        "total": settings.MODEL_CALL_SECONDS,
    }
