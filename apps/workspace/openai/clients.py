"""Services of OpenAI's API: the vendor's SDK says where a request goes and with which headers."""

from dataclasses import dataclass, field

import openai

from apps.workspace.egress.guard import Trust
from apps.workspace.egress.sdk_clients import URL, make_sdk_client
from apps.workspace.egress.transport import Endpoint, StreamTransport
from apps.workspace.services.client import AGENT, Service


@dataclass(frozen=True, slots=True)
class OpenAIService(Service):
    """`api_key` is the bearer's; "" for a service without one."""

    api_key: str = field(default="", repr=False)

    def credentials(self) -> list[str]:
        return [*Service.credentials(self), self.api_key]

    def endpoint(self) -> Endpoint:
        """What the SDK would send, with nothing of the environment. Raises as `Service.endpoint`."""
        place = URL(self.base_url)
        client = make_sdk_client(
            StreamTransport(Trust.OPERATOR), {"Accept-Encoding": "identity", "User-Agent": AGENT}
        )
        sdk = openai.AsyncOpenAI(
            base_url=place.copy_with(query=None, fragment=None),
            api_key=self.api_key,
            admin_api_key="",
            organization="",
            project="",
            webhook_secret="",
            http_client=client,
        )
        headers = {
            "Accept": "text/event-stream",
            "Content-Type": "application/json",
            **sdk.auth_headers,
            **dict(self.headers),
        }
        address = sdk.base_url.join(self.path)
        request = client.build_request("POST", address, params=dict(place.params), headers=headers)
        del request.headers["content-length"]
        return Endpoint.of(request.url, request.headers.raw)
