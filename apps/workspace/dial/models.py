"""Requests chat completions and embeddings from Core's models and applications."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.accounts.caller import Caller
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import Core, target
from apps.workspace.dial.failures import MOST_ERROR_BYTES, details_of
from apps.workspace.dial.wire import send_request
from apps.workspace.egress.transport import StreamedResponse
from apps.workspace.services.client import call_limits
from apps.workspace.services.failures import failure_of_refusal

EMBEDDING_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class DialCompletions:
    """A deployment that is called on behalf of one caller. `name` is its encoded ID."""

    core: Core
    name: str
    headers: dict[str, str] = field(repr=False)
    caller: Caller = field(repr=False)

    def credentials(self) -> list[str]:
        return list(filter(None, (self.caller.credentials.api_key, self.caller.credentials.bearer)))

    async def ask(self, content: bytes, idle_seconds: float) -> StreamedResponse:
        """Send a request. Raises `ModelFailed` for an error response, `EgressRefused` for a blocked
        host, and the errors of the HTTP client.
        """
        path = f"/openai/deployments/{self.name}/chat/completions"
        headers = {
            **self.headers,
            "Accept": "text/event-stream",
            "Content-Type": "application/json",
        }
        place = target(path, {"api-version": self.core.api_version})
        limits = call_limits(idle_seconds)
        answer = await send_request(self.core, "POST", place, headers, limits, content)
        if answer.is_success:
            return answer
        body = await answer.body.read_refusal(MOST_ERROR_BYTES)
        raise failure_of_refusal(answer, body, details_of(body, self.caller))


@dataclass(frozen=True, slots=True)
class DialEmbeddings:
    """An embedding model that is called on behalf of one caller. `name` is its encoded ID."""

    calls: Calls
    name: str
    headers: Mapping[str, str] = field(repr=False)

    async def ask(self, body: Mapping[str, Any]) -> bytes:
        """Send a request, and return the body of the response. Raises `ServiceFailed`, including
        for an unknown deployment.
        """
        path = f"/openai/deployments/{self.name}/embeddings"
        place = target(path, {"api-version": self.calls.core.api_version})
        answer = await self.calls.send(
            "POST", place, headers=self.headers, seconds=EMBEDDING_SECONDS, json=body
        )
        return answer.body
