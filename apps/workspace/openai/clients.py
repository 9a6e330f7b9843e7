"""The SDK's clients: one for each service and key on each event loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

import openai
from openai._models import FinalRequestOptions

from apps import tracing
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.lifetimes import shared
from apps.workspace.egress.sdk_clients import URL, Request, Response, Timeout, make_stream_client

COMPLETIONS = "/chat/completions"
CONNECT_SECONDS = 5.0
WRITE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Service:
    """Where a model is asked, and as whom. `headers` are pairs so that a service can be a key."""

    base_url: str
    api_key: str = field(default="", repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    async def ask(self, content: bytes, idle_seconds: float) -> Response:
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
        self.template: Request | None = None
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
            http_client=make_stream_client(Trust.OPERATOR),
        )
        # What `post` would make anew for every question.
        self.question = FinalRequestOptions.construct(
            method="post", url=COMPLETIONS, headers=self.left_out
        )

    @property
    def default_headers(self) -> dict[str, str | openai.Omit]:
        return self.plain_headers

    async def ask(self, content: bytes, idle_seconds: float) -> Response:
        """Ask for a completion; `idle_seconds` may pass between two reads of the answer.

        Raises the SDK's errors, and `EgressRefused`.
        """
        changed = {"content": content, "timeout": time_outs(idle_seconds)}
        return await self.request(Response, self.question.model_copy(update=changed), stream=True)

    def _build_request(self, options: FinalRequestOptions, *, retries_taken: int = 0) -> Request:
        """The SDK builds the same address and headers for every question; keep what it built.

        A question differs from the last one in its body and its time-outs alone.
        """
        content = options.content
        if options.url != COMPLETIONS or not isinstance(content, bytes):
            return super()._build_request(options, retries_taken=retries_taken)
        if self.template is None:
            self.template = super()._build_request(options, retries_taken=retries_taken)
            del self.template.headers["content-length"]
        headers = self.template.headers
        if traced := tracing.headers():
            headers = headers.copy()
            headers.update(traced)
        return Request(
            "POST",
            self.template.url,
            headers=headers,
            content=content,
            extensions={"timeout": cast(Timeout, options.timeout).as_dict()},
        )

    async def aclose(self) -> None:
        await self.close()


def find_client(service: Service) -> ServiceClient:
    """Raises `InvalidURL`."""
    return shared(service, lambda: ServiceClient(service))


def time_outs(idle_seconds: float) -> Timeout:
    return Timeout(
        connect=CONNECT_SECONDS, read=idle_seconds, write=WRITE_SECONDS, pool=CONNECT_SECONDS
    )


def pairs(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(headers.items()))
