"""The SDK's clients: one for each service and key on each event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field

import openai
from django.conf import settings
from openai._models import FinalRequestOptions

from apps import tracing
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.lifetimes import shared
from apps.workspace.egress.sdk_clients import (
    URL,
    HTTPError,
    Request,
    Response,
    Timeout,
    make_stream_client,
)
from apps.workspace.egress.transport import Answer, Limits, Template

COMPLETIONS = "/chat/completions"
CONNECT_SECONDS = 5.0
WRITE_SECONDS = 30.0
ERROR_SECONDS = 10.0
"""For reading why a service refused; the status says enough."""


@dataclass(frozen=True, slots=True)
class Service:
    """Where a model is asked, and as whom. `headers` are pairs so that a service can be a key."""

    base_url: str
    api_key: str = field(default="", repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    async def ask(self, content: bytes, idle_seconds: float) -> Answer:
        """Raises as `ServiceClient.ask`, and `InvalidURL`."""
        return await find_client(self).ask(content, idle_seconds)


class ServiceClient(openai.AsyncOpenAI):
    """The SDK's client, without what it would read from this process's environment.

    It never retries: whether an answer is asked for again is decided where the run is known.
    """

    def __init__(self, service: Service) -> None:
        """Raises `InvalidURL`."""
        place = URL(service.base_url)
        self.plain_headers: dict[str, str | openai.Omit] = {
            "Accept": "text/event-stream",
            "Content-Type": "application/json",
            "User-Agent": "QuickApps",
            **dict(service.headers),
        }
        # The time-out is not told: it would be that of the first question for all others.
        self.left_out: dict[str, str | openai.Omit] = {"x-stainless-read-timeout": openai.Omit()}
        if not service.api_key:
            self.left_out["Authorization"] = openai.Omit()
        self.template: Template | None = None
        client = make_stream_client(Trust.OPERATOR)
        self.straight = client.straight
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

    @property
    def default_headers(self) -> dict[str, str | openai.Omit]:
        return self.plain_headers

    async def ask(self, content: bytes, idle_seconds: float) -> Answer:
        """Ask for a completion; `idle_seconds` may pass between two reads of the answer.

        Raises `openai.APIStatusError` for an answer that is not 2xx, what the client below the SDK
        raises, and `EgressRefused`.
        """
        if self.template is None:
            self.template = Template.of(self.question())
        answer = await self.straight.post(
            self.template, tracing.headers(), content, limits(idle_seconds)
        )
        if 200 <= answer.status < 300:
            return answer
        raise await self.refusal(answer)

    def question(self) -> Request:
        """The SDK builds the same address and headers for every question; it is asked once."""
        return self._build_request(
            FinalRequestOptions.construct(
                method="post", url=COMPLETIONS, headers=self.left_out, content=b""
            )
        )

    async def refusal(self, answer: Answer) -> openai.APIStatusError:
        """The SDK's error, which has read the answer, or as much of it as could be had."""
        body = b""
        try:
            async with asyncio.timeout(ERROR_SECONDS), aclosing(answer.body):
                body = b"".join([piece async for piece in answer.body])
        except (HTTPError, TimeoutError):
            pass
        response = Response(
            answer.status, headers=answer.headers, content=body, request=self.question()
        )
        return self._make_status_error_from_response(response)

    async def aclose(self) -> None:
        await self.close()


def find_client(service: Service) -> ServiceClient:
    """Raises `InvalidURL`."""
    return shared(service, lambda: ServiceClient(service))


def limits(idle_seconds: float) -> Limits:
    """Of one call of a model."""
    return {
        "connect": CONNECT_SECONDS,
        "read": idle_seconds,
        "write": WRITE_SECONDS,
        "total": settings.MODEL_CALL_SECONDS,
    }


def pairs(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(headers.items()))
