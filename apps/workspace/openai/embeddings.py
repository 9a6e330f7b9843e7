"""The embeddings of an OpenAI-compatible service: one request, raw and guarded."""

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import msgspec
from django.conf import settings

from apps import tracing
from apps.errors import EgressRefused, ServiceFailed
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.headers import retry_after
from apps.workspace.egress.per_loop import shared
from apps.workspace.egress.sdk_clients import HTTPError, InvalidURL, TimeoutException
from apps.workspace.egress.transport import StreamedResponse, StreamTransport, TooLarge
from apps.workspace.openai.model import make_service
from apps.workspace.services.client import (
    CONNECT_SECONDS,
    MOST_ERROR_BYTES,
    WRITE_SECONDS,
    Service,
)
from apps.workspace.services.failures import message_in, without_credentials

EMBEDDINGS = "embeddings"
SECONDS = 60.0
"""For the wait between two reads of an answer."""
MOST_BYTES = 16 * 1024 * 1024
"""64 vectors of 4,096 members with 22 digits each take a third of it."""


class EmbeddingsRefused(ServiceFailed):
    """An answer that is not 2xx."""

    def __init__(self, answer: StreamedResponse, said: str) -> None:
        super().__init__(
            f"The embeddings service answered with status {answer.status}.", status=answer.status
        )
        self.said = said
        self.retry_after = retry_after(answer.header_texts())


@dataclass(frozen=True, slots=True)
class OpenAIEmbeddings:
    service: Service

    async def ask(self, body: Mapping[str, Any]) -> bytes:
        """The body of a 2xx answer. Raises `ServiceFailed`."""
        try:
            answer = await self.send(msgspec.json.encode(body))
            async with aclosing(answer.body):
                if answer.is_success:
                    return await answer.read(MOST_BYTES)
                refusal = await answer.body.read_refusal(MOST_ERROR_BYTES)
                said = without_credentials(message_in(refusal), self.service.credentials())
                raise EmbeddingsRefused(answer, said)
        except (EgressRefused, HTTPError, InvalidURL, TooLarge) as error:
            raise connection_failure(error) from error

    async def send(self, content: bytes) -> StreamedResponse:
        """Raises the HTTP client's errors, `InvalidURL` and `EgressRefused`."""
        transport = shared(
            (StreamTransport, Trust.OPERATOR), lambda: StreamTransport(Trust.OPERATOR)
        )
        limits = {
            "connect": CONNECT_SECONDS,
            "read": SECONDS,
            "write": WRITE_SECONDS,
            "total": settings.DEFAULT_TOOL_TIMEOUT_SECONDS,
        }
        return await transport.send(self.service.endpoint(), content, limits, tracing.headers())


def make_embeddings_service(base_url: str, api_key: str, *, dial: bool = False) -> Service:
    headers = {"Accept": "application/json"}
    return make_service(base_url, api_key, EMBEDDINGS, dial=dial, headers=headers)


def connection_failure(error: Exception) -> ServiceFailed:
    match error:
        case EgressRefused():
            return ServiceFailed(str(error), reason="connection")
        case TooLarge():
            return ServiceFailed(f"The embeddings service: {error}", reason="answer")
        case TimeoutException():
            return ServiceFailed("The embeddings service is silent.", reason="timeout")
        case InvalidURL():
            text = "The address of the embeddings service is not valid."
            return ServiceFailed(text, reason="connection")
        case _:
            text = "The embeddings service cannot be reached or broke off."
            return ServiceFailed(text, reason="connection")
