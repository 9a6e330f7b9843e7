"""Sends requests to the embeddings API of an OpenAI-compatible service."""

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import msgspec
from django.conf import settings

from apps import tracing
from apps.errors import EgressRefused, ServiceFailed
from apps.process_state import loop_object
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.headers import retry_after
from apps.workspace.egress.sdk_clients import HTTPError, InvalidURL, TimeoutException
from apps.workspace.egress.tls_failures import tls_problem
from apps.workspace.egress.transport import ResponseTooLarge, StreamedResponse, StreamTransport
from apps.workspace.openai.model import make_service
from apps.workspace.services.client import (
    CONNECT_SECONDS,
    MOST_ERROR_BYTES,
    WRITE_SECONDS,
    ModelService,
)
from apps.workspace.services.failures import mask_and_cut, message_in

EMBEDDINGS = "embeddings"
SECONDS = 60.0
"""The read timeout in seconds."""
MOST_BYTES = 16 * 1024 * 1024
"""The size limit for a response in bytes. A response with 64 vectors of 4,096 numbers takes up a
third of this limit if each number has 22 digits.
"""


class EmbeddingsRefused(ServiceFailed):
    """Raised if the status of the service's response is not 2xx."""

    def __init__(self, answer: StreamedResponse, said: str) -> None:
        super().__init__(
            f"The embeddings service returned status {answer.status}.", status=answer.status
        )
        self.said = said
        self.retry_after = retry_after(answer.header_texts())


@dataclass(frozen=True, slots=True)
class OpenAIEmbeddings:
    service: ModelService

    async def ask(self, body: Mapping[str, Any]) -> bytes:
        """Send a request, and return the body of the response. Raises `ServiceFailed` unless the
        status is 2xx.
        """
        try:
            answer = await self.send(msgspec.json.encode(body))
            async with aclosing(answer.body):
                if answer.is_success:
                    return await answer.read(MOST_BYTES)
                refusal = await answer.body.read_refusal(MOST_ERROR_BYTES)
                said = mask_and_cut(message_in(refusal), self.service.credentials())
                raise EmbeddingsRefused(answer, said)
        except (EgressRefused, HTTPError, InvalidURL, ResponseTooLarge) as error:
            raise connection_failure(error) from error

    async def send(self, content: bytes) -> StreamedResponse:
        """Send a request. Raises the HTTP client's errors if that fails, `InvalidURL` if the URL
        cannot be used, and `EgressRefused` if the host is not allowed.
        """
        transport = loop_object(
            (StreamTransport, Trust.OPERATOR), lambda: StreamTransport(Trust.OPERATOR)
        )
        limits = {
            "connect": CONNECT_SECONDS,
            "read": SECONDS,
            "write": WRITE_SECONDS,
            "total": settings.DEFAULT_TOOL_TIMEOUT_SECONDS,
        }
        return await transport.send(self.service.endpoint(), content, limits, tracing.headers())


def make_embeddings_service(base_url: str, api_key: str, *, dial: bool = False) -> ModelService:
    headers = {"Accept": "application/json"}
    return make_service(base_url, api_key, EMBEDDINGS, dial=dial, headers=headers)


def connection_failure(error: Exception) -> ServiceFailed:
    match error:
        case EgressRefused():
            return ServiceFailed(str(error), reason="connection", is_blocked=True)
        case ResponseTooLarge():
            return ServiceFailed(f"The embeddings service failed: {error}", reason="answer")
        case TimeoutException():
            return ServiceFailed("The embeddings service timed out.", reason="timeout")
        case InvalidURL():
            text = "The URL of the embeddings service is not valid."
            return ServiceFailed(text, reason="connection")
        case _ if problem := tls_problem(error):
            text = f"The embeddings service cannot be reached. {problem}"
            return ServiceFailed(text, reason="connection")
        case _:
            text = "The embeddings service cannot be reached, or it disconnected."
            return ServiceFailed(text, reason="connection")
